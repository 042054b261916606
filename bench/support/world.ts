import { createHash, randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import type { DataSource } from 'typeorm';
import { TEST_SECRET } from '../../src/server/testing';
import { afterFilling, numbers, secondsAgo } from './sql';

/** The administrator of one tenant, signed in. */
export interface Caller {
  readonly tenantId: string;
  readonly userId: number;
  readonly username: string;
  readonly token: string;
  /** Its departments have the ids `firstDept` to `firstDept + depts - 1`. */
  readonly firstDept: number;
  readonly depts: number;
}

export interface TenantPlan {
  readonly tenants: number;
  /** Departments of each tenant: ten at the top, ninety below them, the rest below those. */
  readonly depts: number;
  /** Accounts of each tenant. */
  readonly accounts?: number;
  /** Tenants below each tenant. */
  readonly childTenants?: number;
}

/** A statement has at most 16 MB. */
const SESSIONS_AT_ONCE = 10_000;
const TOKEN_SECONDS = 2 * 60 * 60;
const SECRET_HASH = createHash('sha256').update('secret').digest('hex');
/** The seven-digit code of a tenant as a number; 1000000 for others. */
export const TENANT_NUMBER = "CAST(CASE WHEN LENGTH(tenant_id) = 7 THEN tenant_id ELSE '1000000' END AS INT)";
const QUOTAS = `quota_enterprise_query, quota_annual_report_query, quota_chain_report, quota_business_report,
  quota_risk_report, quota_merchant, quota_risk_report_used, quota_zr, quota_credit, quota_pf`;

/** Rows of real life were not made all at once. */
function life(dataSource: DataSource): string {
  return `'0', '0', 'seed', ${secondsAgo(dataSource, 's.seq * 61')}, ''`;
}

/** Fills the database with tenants by statements alone; gives their administrators. */
export async function fillTenants(dataSource: DataSource, plan: TenantPlan): Promise<Caller[]> {
  const { tenants, depts, accounts = 1, childTenants = 0 } = plan;
  const firstTenant = (await highest(dataSource, TENANT_NUMBER, 'tenantry_tenant')) + 1;
  const tenantIds = Array.from({ length: tenants }, (_, at) => String(firstTenant + at));
  await addTenants(dataSource, { first: firstTenant, count: tenants, below: [] });
  if (childTenants > 0)
    await addTenants(dataSource, {
      first: firstTenant + tenants,
      count: tenants * childTenants,
      below: tenantIds,
    });
  const firstUser = (await highest(dataSource, 'user_id', 'tenantry_account')) + 1;
  await addAccounts(dataSource, { first: firstUser, count: tenants * accounts, of: tenantIds });
  const owners = tenantIds.map((tenantId, at) => ({ tenantId, userId: firstUser + at }));
  const sessions = await addSessions(dataSource, owners);
  const firstDept = (await highest(dataSource, 'dept_id', 'tenantry_dept')) + 1;
  if (depts > 0) await addDepts(dataSource, firstTenant, firstDept, plan);
  return sessions.map((session, at) => ({
    tenantId: session.tenantId,
    userId: session.userId,
    username: usernameOf(session.userId),
    token: tokenFor(session),
    firstDept: firstDept + at * depts,
    depts,
  }));
}

interface Session {
  readonly tenantId: string;
  readonly userId: number;
  readonly sessionId: string;
}

function usernameOf(userId: number): string {
  return `user ${userId}`;
}

export function tokenFor({ tenantId, userId, sessionId }: Session): string {
  return sign({ tenantId, username: usernameOf(userId), roles: ['tenant_admin'] }, TEST_SECRET, {
    subject: `account:${userId}`,
    issuer: 'tenantry',
    audience: 'tenantry',
    expiresIn: TOKEN_SECONDS,
    jwtid: `${sessionId}.bench`,
  });
}

/** Sessions of these accounts, each with a refresh token that was not used yet. */
export async function addSessions(
  dataSource: DataSource,
  accounts: readonly Omit<Session, 'sessionId'>[],
): Promise<(Session & { readonly refreshToken: string })[]> {
  const made = accounts.map(({ tenantId, userId }) => {
    const sessionId = randomUUID();
    return { tenantId, userId, sessionId, refreshToken: `${sessionId}.secret` };
  });
  const rows = made.map(
    ({ sessionId, tenantId, userId }) =>
      `('${sessionId}', '${tenantId}', ${userId}, '${SECRET_HASH}', CURRENT_TIMESTAMP(3), CURRENT_TIMESTAMP(3) + INTERVAL '2' HOUR)`,
  );
  for (let from = 0; from < rows.length; from += SESSIONS_AT_ONCE)
    await dataSource.query(
      `INSERT INTO tenantry_session (session_id, tenant_id, user_id, refresh_hash, created_at, expires_at)
       VALUES ${rows.slice(from, from + SESSIONS_AT_ONCE).join(', ')}`,
    );
  return made;
}

/** Tenants below the platform, or by turns below these. */
export async function addTenants(
  dataSource: DataSource,
  { first, count, below }: { first: number; count: number; below: readonly string[] },
): Promise<void> {
  const code = `${first - 1} + s.seq`;
  const parent = turn(below);
  const [place, path, depth] = parent
    ? [parent, `CONCAT('0,000000,', ${parent})`, 3]
    : ["'000000'", "'0,000000'", 2];
  await dataSource.query(
    `INSERT INTO tenantry_tenant (id, tenant_id, tenant_name, tenant_parent, ancestors, depth, account_count, menu_ids,
       tree_ver, ${QUOTAS}, status, del_flag, create_by, create_time, update_by)
     SELECT ${code}, ${code}, CONCAT('公司 ', s.seq), ${place}, ${path}, ${depth}, -1, '1, 100, 101',
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ${life(dataSource)} FROM ${numbers(dataSource, count, 's')}`,
  );
}

/** Accounts of these tenants by turns. */
export async function addAccounts(
  dataSource: DataSource,
  { first, count, of }: { first: number; count: number; of: readonly string[] },
): Promise<void> {
  const id = `${first - 1} + s.seq`;
  const name = `CONCAT('user ', ${id})`;
  await dataSource.query(
    `INSERT INTO tenantry_account (user_id, tenant_id, username, username_key, name_key, password_hash, roles,
       sign_ins, status, del_flag, create_by, create_time, update_by)
     SELECT ${id}, ${turn(of) ?? ''}, ${name}, ${name}, 0, '-', 'tenant_admin', 0, ${life(dataSource)}
     FROM ${numbers(dataSource, count, 's')}`,
  );
}

/** The codes that follow each other from the first on, by turns; null for none. */
function turn([first, ...others]: readonly string[]): string | null {
  return first === undefined ? null : `(${first} + (s.seq - 1) % ${others.length + 1})`;
}

async function addDepts(
  dataSource: DataSource,
  firstTenant: number,
  firstDept: number,
  { tenants, depts }: TenantPlan,
): Promise<void> {
  const base = `(${firstDept - 1} + (t.seq - 1) * ${depts})`;
  const top = (n: string) => `(${base} + 1 + (${n}) % 10)`;
  const middle = '(11 + s.seq % 90)';
  await dataSource.query(
    `INSERT INTO tenantry_dept (dept_id, tenant_id, parent_id, ancestors, depth, dept_name, order_num, leader, phone,
       email, status, del_flag, create_by, create_time, update_by)
     SELECT ${base} + s.seq, ${firstTenant - 1} + t.seq,
       CASE WHEN s.seq <= 10 THEN 0 WHEN s.seq <= 100 THEN ${top('s.seq')} ELSE ${base} + ${middle} END,
       CASE WHEN s.seq <= 10 THEN '0' WHEN s.seq <= 100 THEN CONCAT('0,', ${top('s.seq')})
            ELSE CONCAT('0,', ${top(middle)}, ',', ${base} + ${middle}) END,
       CASE WHEN s.seq <= 10 THEN 1 WHEN s.seq <= 100 THEN 2 ELSE 3 END,
       CONCAT('部门 ', s.seq), (s.seq * 7919) % 1000, CASE WHEN s.seq % 3 = 0 THEN CONCAT('leader ', s.seq % 30) END,
       CASE WHEN s.seq % 2 = 0 THEN '13800138000' END, CASE WHEN s.seq % 2 = 0 THEN 'office@example.com' END,
       ${life(dataSource)}
     FROM ${numbers(dataSource, tenants, 't')} CROSS JOIN ${numbers(dataSource, depts, 's')}`,
  );
  await afterFilling(dataSource);
}

/** A subtree below the first of two departments at the top. */
export interface Subtree {
  readonly head: number;
  readonly tops: readonly [number, number];
}

/** So many children a head has at most; the rest is one level lower. */
const MOST_CHILDREN = 100;

/** Adds a subtree of this size to a tenant. */
export async function addSubtree(
  dataSource: DataSource,
  { tenantId }: Caller,
  size: number,
): Promise<Subtree> {
  // Ids of one length, so that a move changes the length of no path.
  const first = Math.max(1_000_000, await highest(dataSource, 'dept_id', 'tenantry_dept')) + 1;
  const [tops, head] = [[first, first + 1] as const, first + 2];
  const children = Math.min(MOST_CHILDREN, Math.ceil(Math.sqrt(size - 1)));
  const path = `0,${tops[0]},${head}`;
  const parent = `${head + 1} + s.seq % ${children}`;
  const forChild = (then: string, otherwise: string) =>
    `CASE WHEN s.seq <= ${children} THEN ${then} ELSE ${otherwise} END`;
  const add = (count: number, id: string, place: string, name: string) =>
    dataSource.query(
      `INSERT INTO tenantry_dept (tenant_id, dept_id, parent_id, ancestors, depth, dept_name, order_num, status, del_flag,
         create_by, create_time, update_by)
       SELECT '${tenantId}', ${id}, ${place}, ${name}, 0, ${life(dataSource)} FROM ${numbers(dataSource, count, 's')}`,
    );
  await add(2, `${first} - 1 + s.seq`, "0, '0', 1", "'top'");
  await add(1, String(head), `${tops[0]}, '0,${tops[0]}', 2`, "'head'");
  const paths = forChild(`'${path}'`, `CONCAT('${path},', ${parent})`);
  const places = `${forChild(String(head), parent)}, ${paths}, ${forChild('3', '4')}`;
  await add(size - 1, `${head} + s.seq`, places, "CONCAT('dept ', s.seq)");
  await afterFilling(dataSource);
  return { head, tops };
}

export async function highest(dataSource: DataSource, column: string, table: string): Promise<number> {
  const [row] = await dataSource.query<{ last: string | null }[]>(
    `SELECT MAX(${column}) AS last FROM ${table}`,
  );
  return Number(row?.last ?? 0);
}
