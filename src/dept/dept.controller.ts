import { Body, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operation } from '../api/operation.decorator';
import { OrganisationController } from '../api/organisation-controller.decorator';
import { MANAGERS, READERS } from '../auth/roles';
import { Created } from '../http/created';
import { IdPipe, IdsPipe } from '../http/ids.pipe';
import { Ctx } from '../tenancy/ctx.decorator';
import { RequestContext } from '../tenancy/request-context';
import { TenantErrors } from '../tenant/tenant.errors';
import { CreateDeptDto, DeptDto, UpdateDeptDto } from './dept.dto';
import { DeptErrors } from './dept.errors';
import { DeptService } from './dept.service';

@OrganisationController('system/dept-api', 'Departments')
export class DeptController {
  constructor(private readonly depts: DeptService) {}

  @Post()
  @Operation({
    summary: 'Create a department',
    roles: MANAGERS,
    refusals: [
      TenantErrors.MISMATCH,
      DeptErrors.PARENT_NOT_FOUND,
      DeptErrors.PARENT_DISABLED,
      DeptErrors.TOO_DEEP,
    ],
  })
  async create(@Ctx() ctx: RequestContext, @Body() dto: CreateDeptDto): Promise<Created> {
    return new Created(await this.depts.create(ctx, dto));
  }

  @Get(':id')
  @ApiParam({ name: 'id', schema: { type: 'integer', format: 'int64' } })
  @Operation({
    summary: 'Read a department',
    roles: READERS,
    data: DeptDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @Param('id', IdPipe) id: number): Promise<DeptDto> {
    return this.depts.get(ctx, id);
  }

  @Put()
  @Operation({
    summary: 'Replace a department, or move it with its subtree',
    roles: MANAGERS,
    refusals: [
      TenantErrors.MISMATCH,
      DeptErrors.NOT_FOUND,
      DeptErrors.PARENT_NOT_FOUND,
      DeptErrors.PARENT_DISABLED,
      DeptErrors.CYCLE,
      DeptErrors.TOO_DEEP,
    ],
  })
  update(@Ctx() ctx: RequestContext, @Body() dto: UpdateDeptDto): Promise<void> {
    return this.depts.update(ctx, dto);
  }

  @Delete(':ids')
  @ApiParam({ name: 'ids', description: 'One id, or up to 500 separated by commas', example: '100,101' })
  @Operation({
    summary: 'Delete one department or several',
    roles: MANAGERS,
    refusals: [DeptErrors.NOT_FOUND, DeptErrors.HAS_CHILDREN, DeptErrors.HAS_USERS],
  })
  delete(@Ctx() ctx: RequestContext, @Param('ids', IdsPipe) ids: number[]): Promise<void> {
    return this.depts.delete(ctx, ids);
  }
}
