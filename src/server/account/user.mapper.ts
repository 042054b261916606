import { withRevision } from '../../web/revision';
import type { ZonedTime } from '../../time/zoned-time';
import type { AccountEntity, AccountFields } from '../../tenant/account.entity';
import { fromRoles, toRoles } from '../../tenancy/roles';
import type { UserDto, UserFieldsDto } from './user.dto';

/** The only place where a column becomes a field. */
export function toUserDto(row: AccountEntity, time: ZonedTime): UserDto {
  const dto = {
    userId: row.userId,
    username: row.username,
    nickname: row.nickname,
    deptId: row.deptId,
    email: row.email,
    phone: row.phone,
    roles: toRoles(row.roles),
    status: row.status,
    tenantId: row.tenantId,
    createBy: row.createBy,
    createTime: time.format(row.createTime),
    updateBy: row.updateBy,
    updateTime: time.formatOrNull(row.updateTime),
  };
  return withRevision(dto, row.revision);
}

/** The only place where a field becomes a column; what was not sent becomes its default. */
export function toAccountFields(dto: UserFieldsDto): AccountFields {
  return {
    username: dto.username,
    nickname: dto.nickname ?? null,
    deptId: dto.deptId ?? null,
    email: dto.email ?? null,
    phone: dto.phone ?? null,
    roles: fromRoles(dto.roles ?? ['member']),
    status: dto.status ?? '0',
  };
}
