import { STAMPS } from '../../database/audited';
import { withRevision } from '../../database/revision';
import type { JournalFields } from '../../journal/change-log';
import { namesOf, pick, viewOf, withDefaults, type ClientFields } from '../../resource/fields';
import { fromRoles, toRoles, type Role } from '../../tenancy/roles';
import type { ZonedTime } from '../../time/zoned-time';
import type { KeyEntity } from '../auth/account.entity';
import type { CreateKeyDto, KeyDto } from './key.dto';

/** What a client decides about a key: every field that it may send. */
export type KeyFields = ClientFields<KeyEntity, KeyDto, Exclude<keyof CreateKeyDto, 'tenantId'>>;

/** The fields with their defaults; the name and the permissions have none. */
const KEY_DEFAULTS: Omit<KeyFields, 'name' | 'permissions'> = {
  roles: fromRoles(['member']),
  managedDeptIds: [],
  dataScope: 'all',
  scopeDeptIds: [],
  endTime: null,
  status: '0',
};

const KEY_FIELDS = ['name', 'permissions', ...namesOf(KEY_DEFAULTS)] as const;
const KEY_VIEW = ['keyId', ...KEY_FIELDS, 'lastUsedTime', 'tenantId', ...STAMPS] as const;
const KEY_JOURNALLED = [...KEY_FIELDS, ...STAMPS] as const;

/** What is read of a key to show it: not its hash. */
export const KEY_SHOWN = [...KEY_VIEW, 'revision'] as const;
export type KeyRow = Pick<KeyEntity, (typeof KEY_SHOWN)[number]>;

/** Fields as a client sends them; the end has been read. */
export type SentKey = Omit<CreateKeyDto, 'endTime' | 'tenantId'> & {
  readonly endTime?: Date | null | undefined;
};

/** One key by itself, which can be changed on the condition that it is still the same. */
export function toKeyDto(row: KeyRow, time: ZonedTime): KeyDto {
  return withRevision(toKeyRow(row, time), row.revision);
}

export function toKeyRow(row: KeyRow, time: ZonedTime): KeyDto {
  return withLists(viewOf(row, KEY_VIEW, time));
}

/** A key as a client would send it to leave it as it is. */
export function toKeySent(row: KeyRow): SentKey {
  return withLists(pick(row, KEY_FIELDS));
}

/** What was not sent becomes its default. */
export function toKeyFields({ name, permissions, ...sent }: SentKey): KeyFields {
  const others = { ...sent, roles: sent.roles && fromRoles(sent.roles) };
  return { name, permissions: permissions.join(' '), ...withDefaults(others, KEY_DEFAULTS) };
}

/** What the journal records of a key: never its hash. */
export function toKeyJournal(row: Pick<KeyRow, (typeof KEY_JOURNALLED)[number]>): JournalFields {
  return withLists(pick(row, KEY_JOURNALLED));
}

function withLists<T extends { readonly roles: string; readonly permissions: string }>(
  row: T,
): Omit<T, 'roles' | 'permissions'> & { roles: Role[]; permissions: string[] } {
  return Object.assign(row as Omit<T, 'roles' | 'permissions'>, {
    roles: toRoles(row.roles),
    permissions: row.permissions.split(' '),
  });
}
