import { Type } from 'class-transformer';
import { IsEmail, IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';

export class ListQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 20;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  parentId?: number;
}

export class CreateDeptDto {
  @IsOptional()
  @IsInt()
  parentId?: number;

  @IsString()
  @MaxLength(64)
  deptName!: string;

  @IsOptional()
  @IsInt()
  orderNum?: number;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  leader?: string;

  @IsOptional()
  @IsString()
  @MaxLength(32)
  phone?: string;

  @IsOptional()
  @IsEmail()
  email?: string;

  @IsOptional()
  @IsIn(['0', '1'])
  status?: string;
}

export class UpdateDeptDto extends CreateDeptDto {
  @IsInt()
  deptId!: number;
}
