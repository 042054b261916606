import { withRevision } from '../../web/revision';
import type { ZonedTime } from '../../time/zoned-time';
import type { AccountFields, AccountRow } from '../../tenant/account.entity';
import { fromRoles, toRoles } from '../../tenancy/roles';
import type { UserDto, UserFieldsDto } from './user.dto';

export function toUserDto(row: AccountRow, time: ZonedTime): UserDto {
  const { userId, username, nickname, deptId, email, phone, status, tenantId, createBy, updateBy } = row;
  const dto = {
    ...{ userId, username, nickname, deptId, email, phone },
    roles: toRoles(row.roles),
    ...{ status, tenantId, createBy },
    createTime: time.format(row.createTime),
    updateBy,
    updateTime: time.formatOrNull(row.updateTime),
  };
  return withRevision(dto, row.revision);
}

/** What was not sent becomes its default. */
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
