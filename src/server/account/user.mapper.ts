import { withRevision } from '../../database/revision';
import type { ZonedTime } from '../../time/zoned-time';
import type { AccountFields, AccountRow } from '../auth/account.entity';
import { fromRoles, toRoles } from '../../tenancy/roles';
import type { UserDto, UserFieldsDto } from './user.dto';

/** One account by itself, which can be changed on the condition that it is still the same. */
export function toUserDto(row: AccountRow, time: ZonedTime): UserDto {
  return withRevision(toUserRow(row, time), row.revision);
}

export function toUserRow(row: AccountRow, time: ZonedTime): UserDto {
  return {
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
}

/** An account as a client would send it to leave it as it is. */
export function toUserSent(row: AccountRow): object {
  const { username, nickname, deptId, email, phone, status } = row;
  return { username, nickname, deptId, email, phone, roles: toRoles(row.roles), status };
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
