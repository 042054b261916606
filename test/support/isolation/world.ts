import type { DataSource } from 'typeorm';
import { AccountEntity, KeyEntity, SessionEntity } from '../../../src/server/auth/account.entity';
import { hashOfKey, newKeySecret } from '../../../src/server/auth/key-secret';
import { serviceResources } from '../../../src/server/docs/service-resources';
import { PermissionCatalogue } from '../../../src/tenancy/permissions';
import { TenantryWebhook } from '../../../src/changes/subscription.entity';
import { aDept, type ApiClient, aTenant, mintToken } from '../../../src/server/testing';
import { bulkInsert, life } from '../seeds';

/** One tenant with rows of every kind; every text in them holds a mark that no other tenant's rows have. */
export interface Place {
  readonly name: string;
  readonly id: string;
  readonly code: string;
  readonly parent: string | null;
  /** In the tenant's own fields, which those above it may read. */
  readonly tenantMark: string;
  /** In departments and accounts, which only its own users may read. */
  readonly rowMark: string;
  readonly depts: { readonly live: number; readonly deleted: number };
  readonly users: { readonly live: number; readonly deleted: number };
  readonly session: string;
  readonly keys: { readonly live: number; readonly deleted: number };
  /** Of these keys, which may do what an administrator may. */
  readonly secrets: { readonly live: string; readonly deleted: string };
}

/** The platform, a parent with a child and its sibling, a stranger; and tenants that were deleted with all they had. */
export interface IsolationWorld {
  readonly places: Readonly<Record<PlaceName, Place>>;
  readonly dataSource: DataSource;
}

export type PlaceName = (typeof ORDER)[number]['name'];

const ORDER = [
  { name: 'platform', below: null },
  { name: 'parent', below: 'platform' },
  { name: 'child', below: 'parent' },
  { name: 'sibling', below: 'parent' },
  { name: 'stranger', below: 'platform' },
  { name: 'gone below platform', below: 'platform' },
  { name: 'gone below parent', below: 'parent' },
  { name: 'gone below child', below: 'child' },
  { name: 'gone below sibling', below: 'sibling' },
] as const;

/** Ids of ten digits, so that one cannot be in an answer by chance. */
const FIRST_ID = 4_100_000_000;
/** From a department's id to an account's, and to a key's: further than probes make such rows. */
const TO_USERS = 100_000;
const TO_KEYS = 200_000;

/** The quotas that probes spend: nobody has a limit. */
const SPENT = [
  ['riskReport', 'quota_risk_report'],
  ['merchant', 'quota_merchant'],
  ['chainReport', 'quota_chain_report'],
] as const;
const quotaBo = Object.fromEntries(SPENT.map(([kind]) => [kind, -1]));

export async function isolationWorld(dataSource: DataSource, anonymous: ApiClient): Promise<IsolationWorld> {
  const places: Record<string, Place> = {};
  await dataSource.query(`UPDATE tenantry_tenant SET ${SPENT.map(([, column]) => `${column} = -1`).join()}`);
  for (const [kind] of SPENT)
    await dataSource.query(`UPDATE tenantry_quota SET total = -1 WHERE kind = '${kind}'`);
  const root = anonymous.as(mintToken({ roles: ['superadmin'] }));
  for (const [index, { name, below }] of ORDER.entries()) {
    const tenantMark = `T${index}markQ`;
    const made =
      below === null
        ? { id: '1', tenantId: '000000' }
        : await aTenant(root, { tenantParent: places[below]!.code, quotaBo, ...textsOf(tenantMark) });
    places[name] = await furnished(dataSource, anonymous, {
      ...{ name, id: made.id, code: made.tenantId, parent: below === null ? null : places[below]!.code },
      ...{ tenantMark, rowMark: `R${index}markQ`, from: FIRST_ID + index * 1000 },
    });
  }
  for (const place of Object.values(places).filter(({ name }) => name.startsWith('gone'))) {
    const { status } = await root.delete(`/system/tenant-api/${place.id}`);
    if (status !== 200) throw new Error(`${place.name} is still there.`);
  }
  return { places: places as IsolationWorld['places'], dataSource };
}

function textsOf(mark: string): { tenantName: string; companyName: string; contactUserName: string } {
  return { tenantName: `${mark} name`, companyName: `${mark} company`, contactUserName: `${mark} contact` };
}

type Bare = Pick<Place, 'name' | 'id' | 'code' | 'parent' | 'tenantMark' | 'rowMark'> & {
  readonly from: number;
};

async function furnished(dataSource: DataSource, anonymous: ApiClient, bare: Bare): Promise<Place> {
  const { code: tenantId, rowMark, from, ...place } = bare;
  await countFrom(dataSource, tenantId, from);
  const api = anonymous.as(mintToken({ tenantId, username: rowMark }));
  const fields = { leader: `${rowMark} leader`, email: `${rowMark}@example.com` };
  const live = await aDept(api, { deptName: `${rowMark} live`, ...fields });
  await aDept(api, { parentId: live, deptName: `${rowMark} below`, ...fields });
  const deleted = await aDept(api, { deptName: `${rowMark} deleted`, ...fields });
  await api.delete(`/system/dept-api/${deleted}`);
  const account = (values: Partial<AccountEntity>) => accountRow(dataSource, tenantId, values);
  const gone = from + TO_USERS + 2;
  const users = {
    live: await account({ userId: from + TO_USERS + 1, username: `${rowMark} user`, deptId: live }),
    deleted: await account({ userId: gone, username: `${rowMark} left`, delFlag: '2', nameKey: gone }),
  };
  // A second one, so that the list has a second page.
  await account({ userId: from + TO_USERS + 3, username: `${rowMark} other` });
  const session = `00000000-0000-4000-8000-${String(from).padStart(12, '0')}`;
  const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + 3_600_000), endedAt: null };
  const row = { sessionId: session, tenantId, userId: users.live, refreshHash: rowMark, ...times };
  await dataSource.manager.insert(SessionEntity, row);
  const secrets = { live: newKeySecret(), deleted: newKeySecret() };
  const key = (values: Partial<KeyEntity>) => keyRow(dataSource, tenantId, values);
  const dead = from + TO_KEYS + 2;
  const keys = {
    live: await key({
      keyId: from + TO_KEYS + 1,
      name: `${rowMark} key`,
      secretHash: hashOfKey(secrets.live),
    }),
    deleted: await key({
      ...{ keyId: dead, name: `${rowMark} left`, secretHash: hashOfKey(secrets.deleted) },
      ...{ delFlag: '2', nameKey: dead },
    }),
  };
  await key({ keyId: from + TO_KEYS + 3, name: `${rowMark} other` });
  return { ...place, code: tenantId, rowMark, depts: { live, deleted }, users, session, keys, secrets };
}

/** Makes the ids that the database gives from now on start here. */
async function countFrom(dataSource: DataSource, tenantId: string, from: number): Promise<void> {
  await dataSource.query(
    `INSERT INTO tenantry_dept (dept_id, tenant_id, parent_id, ancestors, depth, dept_name, order_num, status, del_flag,
       create_by, create_time, update_by) VALUES (${from}, '${tenantId}', 0, '0', 1, 'first', 0, '0', '2', 'seed', '2026-01-01', '')`,
  );
  if (dataSource.options.type === 'postgres')
    await dataSource.query(`SELECT setval(pg_get_serial_sequence('tenantry_dept', 'dept_id'), ${from})`);
}

/** Downwards: the database gives its own ids from the highest upwards. */
let nextUser = FIRST_ID;

/** An account without a password that anybody could type: hashing one takes longer than all else here. */
export async function accountRow(
  dataSource: DataSource,
  tenantId: string,
  values: Partial<AccountEntity> = {},
): Promise<number> {
  const userId = (nextUser -= 1);
  const row = { userId, nameKey: 0, passwordHash: '-', roles: 'member', ...life() };
  await bulkInsert(dataSource, AccountEntity, [{ username: `own ${userId}`, ...row, ...values, tenantId }]);
  return values.userId ?? userId;
}

const PERMISSIONS = new PermissionCatalogue(serviceResources).names.join(' ');

/** A key of an administrator. */
export async function keyRow(
  dataSource: DataSource,
  tenantId: string,
  values: Partial<KeyEntity> = {},
): Promise<number> {
  const keyId = (nextUser -= 1);
  const granted = { roles: 'tenant_admin', permissions: PERMISSIONS, dataScope: 'all' as const };
  const row = { keyId, name: `own ${keyId}`, nameKey: 0, secretHash: hashOfKey(newKeySecret()), ...granted };
  await bulkInsert(dataSource, KeyEntity, [{ ...row, ...life(), ...values, tenantId }]);
  return values.keyId ?? keyId;
}

/** A webhook that is disabled, instead of the last one: a tenant may have only a few. */
export async function webhookRow(dataSource: DataSource, tenantId: string): Promise<number> {
  const row = { tenantId, url: 'http://127.0.0.1:9/', kinds: 'dept', secret: 'whsec_', status: '1' };
  const times = { createBy: 'own', createTime: new Date(), updateBy: '' };
  await dataSource.manager.delete(TenantryWebhook, { tenantId, createBy: 'own' });
  await bulkInsert(dataSource, TenantryWebhook, [{ ...row, ...times }]);
  const [{ webhookId } = { webhookId: 0 }] = await dataSource.manager.findBy(TenantryWebhook, {
    tenantId,
    createBy: 'own',
  });
  return webhookId;
}
