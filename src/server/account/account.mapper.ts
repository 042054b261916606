import { STAMPS } from '../../database/audited';
import { withRevision } from '../../database/revision';
import type { JournalFields } from '../../journal/change-log';
import { namesOf, pick, viewOf, withDefaults, type ClientFields } from '../../resource/fields';
import { fromRoles, toRoles } from '../../tenancy/roles';
import type { ZonedTime } from '../../time/zoned-time';
import type { AccountEntity } from '../auth/account.entity';
import type { AccountDto, AccountFieldsDto } from './account.dto';

/** What a client decides about an account, its password aside: every field that it may send. */
export type AccountFields = ClientFields<
  AccountEntity,
  AccountDto,
  Exclude<keyof AccountFieldsDto, 'tenantId'>
>;

/** The fields with their defaults; the name has none. */
const ACCOUNT_DEFAULTS: Omit<AccountFields, 'username'> = {
  nickname: null,
  deptId: null,
  email: null,
  phone: null,
  roles: fromRoles(['member']),
  managedDeptIds: [],
  dataScope: 'all',
  scopeDeptIds: [],
  status: '0',
};

const ACCOUNT_FIELDS = ['username', ...namesOf(ACCOUNT_DEFAULTS)] as const;
const ACCOUNT_VIEW = ['userId', ...ACCOUNT_FIELDS, 'tenantId', ...STAMPS] as const;
const ACCOUNT_JOURNALLED = [...ACCOUNT_FIELDS, ...STAMPS] as const;

/** What is read of an account to show it. */
export const ACCOUNT_SHOWN = [...ACCOUNT_VIEW, 'revision'] as const;
export type AccountRow = Pick<AccountEntity, (typeof ACCOUNT_SHOWN)[number]>;

/** One account by itself, which can be changed on the condition that it is still the same. */
export function toAccountDto(row: AccountRow, time: ZonedTime): AccountDto {
  return withRevision(toAccountRow(row, time), row.revision);
}

export function toAccountRow(row: AccountRow, time: ZonedTime): AccountDto {
  return withRoles(viewOf(row, ACCOUNT_VIEW, time));
}

/** An account as a client would send it to leave it as it is. */
export function toAccountSent(row: AccountRow): AccountFieldsDto {
  return withRoles(pick(row, ACCOUNT_FIELDS)) as object as AccountFieldsDto;
}

/** What was not sent becomes its default. */
export function toAccountFields(dto: AccountFieldsDto): AccountFields {
  const sent = Object.assign({}, dto, { roles: dto.roles && fromRoles(dto.roles) });
  return { username: dto.username, ...withDefaults(sent, ACCOUNT_DEFAULTS) };
}

/** What the journal records of an account: never its password. */
export function toAccountJournal(row: Pick<AccountRow, (typeof ACCOUNT_JOURNALLED)[number]>): JournalFields {
  return withRoles(pick(row, ACCOUNT_JOURNALLED));
}

function withRoles<T extends { readonly roles: string }>(
  row: T,
): Omit<T, 'roles'> & { roles: ReturnType<typeof toRoles> } {
  return Object.assign(row as Omit<T, 'roles'>, { roles: toRoles(row.roles) });
}
