import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { sign } from 'jsonwebtoken';
import { change, inTransaction, read, type Transaction } from './database';
import {
  forget,
  formatTime,
  formatTimeOrNull,
  HttpError,
  isServed,
  key,
  pageOf,
  placeIn,
  operation,
  changed,
  reading,
  changeCursor,
  type Caller,
  type Reply,
} from './operation';
import { findTenant } from './tenants';

const PATH = '/system/user-api';
const COLUMNS = `user_id, username, nickname, dept_id, email, phone, roles, managed_dept_ids, data_scope, scope_dept_ids,
  status, tenant_id, create_by, create_time, update_by, update_time, revision`;
const BY_ID = `SELECT ${COLUMNS} FROM tenantry_account WHERE user_id = ? AND tenant_id = ? AND del_flag = '0'`;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const ACCESS_SECONDS = 30 * 60;
/** What the service knows of itself: its version, and what an administrator may do. */
const { version, permissions } = JSON.parse(process.env.FACTS ?? '') as {
  version: string;
  permissions: string[];
};

interface AccountRow {
  user_id: number;
  username: string;
  nickname: string | null;
  dept_id: number | null;
  email: string | null;
  phone: string | null;
  roles: string;
  managed_dept_ids: string | null;
  data_scope: string;
  scope_dept_ids: string | null;
  status: string;
  tenant_id: string;
  create_by: string;
  create_time: Date;
  update_by: string;
  update_time: Date | null;
  revision: number;
}

function userJson(row: AccountRow) {
  return {
    userId: row.user_id,
    username: row.username,
    nickname: row.nickname,
    deptId: row.dept_id,
    email: row.email,
    phone: row.phone,
    roles: row.roles.split(','),
    managedDeptIds: idsIn(row.managed_dept_ids),
    dataScope: row.data_scope,
    scopeDeptIds: idsIn(row.scope_dept_ids),
    status: row.status,
    tenantId: row.tenant_id,
    createBy: row.create_by,
    createTime: formatTime(row.create_time),
    updateBy: row.update_by,
    updateTime: formatTimeOrNull(row.update_time),
  };
}

function idsIn(stored: string | null): number[] {
  return stored?.split(',').map(Number) ?? [];
}

async function existing(
  caller: Caller,
  userId: unknown,
  tx: Pick<Transaction, 'read'> = { read },
): Promise<AccountRow> {
  const [row] = await tx.read<AccountRow>(BY_ID, [Number(userId), caller.tenantId]);
  if (!row) throw new HttpError(404);
  return row;
}

operation('get', PATH, async (caller, { query }) => {
  const headers = await changeCursor(caller);
  const limit = Number(query.limit);
  const [after = 0] = placeIn(query.cursor) ?? [];
  const found = await read<AccountRow>(
    `SELECT ${COLUMNS} FROM tenantry_account WHERE tenant_id = ? AND del_flag = '0' AND user_id > ?
      ORDER BY user_id LIMIT ${limit + 1}`,
    [caller.tenantId, after],
  );
  const rows = found.map(userJson);
  return reading(pageOf('user', caller, query, { rows, limit, keyOf: (row) => [row.userId] }), { headers });
});

operation('get', `${PATH}/:id`, async (caller, { params }) => {
  const row = await existing(caller, params.id);
  return reading(userJson(row), { revision: row.revision });
});

type UserSent = Partial<ReturnType<typeof userJson>>;

operation('put', PATH, async (caller, { body }) => {
  const {
    username,
    nickname,
    deptId,
    email,
    phone,
    roles = ['member'],
    managedDeptIds = [],
    dataScope = 'all',
    scopeDeptIds = [],
    status = '0',
    userId,
  } = body as UserSent;
  const revision = await inTransaction(caller.tenantId, async (tx) => {
    const row = await existing(caller, userId, tx);
    const fields = [username ?? '', nickname ?? null, deptId ?? null, email ?? null, phone ?? null];
    const part = [managedDeptIds.join() || null, dataScope, scopeDeptIds.join() || null];
    await tx.change(
      `UPDATE tenantry_account SET username = ?, nickname = ?, dept_id = ?, email = ?, phone = ?, roles = ?,
         managed_dept_ids = ?, data_scope = ?, scope_dept_ids = ?, status = ?, update_by = ?, update_time = ?, revision = revision + 1 WHERE user_id = ? AND tenant_id = ? AND del_flag = '0'`,
      [
        ...fields,
        ...[roles.join(','), ...part, status, caller.username, new Date(), row.user_id, caller.tenantId],
      ],
    );
    const [before, after] = [userJson(row), body as UserSent];
    tx.note({ kind: 'user', operation: 'updated', id: row.user_id, before, after, by: caller.username });
    return row.revision + 1;
  });
  return changed(revision);
});

operation('delete', `${PATH}/:id`, async (caller, { params }) => {
  await inTransaction(caller.tenantId, async (tx) => {
    const row = await existing(caller, params.id, tx);
    await tx.change(
      `UPDATE tenantry_account SET del_flag = '2', name_key = user_id, update_by = ?, update_time = ?,
         revision = revision + 1 WHERE user_id = ? AND tenant_id = ? AND del_flag = '0'`,
      [caller.username, new Date(), row.user_id, caller.tenantId],
    );
    const before = userJson(row);
    tx.note({
      kind: 'user',
      operation: 'deleted',
      id: row.user_id,
      before,
      after: null,
      by: caller.username,
    });
  });
  return { data: null };
});

operation('get', '/auth/me', async (caller) => {
  const { userId, username, roles, tenantId } = caller;
  const account = await existing(caller, userId);
  const tenant = await findTenant(caller, 'tenant_id', tenantId);
  const menuIds = String(tenant.menu_ids)
    .split(',')
    .map((id) => id.trim())
    .filter(Boolean)
    .map(Number);
  const { nickname } = account;
  const tenantState = (await isServed(tenantId)) ? 'ACTIVE' : 'DISABLED';
  return reading({
    userId,
    username,
    nickname,
    roles,
    permissions,
    managedDeptIds: [],
    dataScope: [{ kind: 'all' }],
    tenantId,
    tenantName: tenant.tenant_name,
    tenantState,
    menuIds,
    timeZone: 'Asia/Shanghai',
    version,
  });
});

operation('post', '/auth/logout', async ({ sessionId, tenantId }) => {
  await change(
    'UPDATE tenantry_session SET ended_at = ? WHERE session_id = ? AND tenant_id = ? AND ended_at IS NULL',
    [new Date(), sessionId, tenantId],
  );
  forget(sessionId);
  return { data: null };
});

interface SessionRow {
  tenant_id: string;
  user_id: number;
  refresh_hash: string;
  expires_at: Date;
  ended_at: Date | null;
}

const SESSION = `SELECT tenant_id, user_id, refresh_hash, expires_at, ended_at FROM tenantry_session
  WHERE session_id = ?`;
const ROTATE = `UPDATE tenantry_session SET refresh_hash = ?, expires_at = ?
  WHERE session_id = ? AND tenant_id = ? AND refresh_hash IN (?, ?) AND ended_at IS NULL`;

operation('post', '/auth/refresh', refresh, { isPublic: true });

async function refresh(_: Caller, { body }: Request): Promise<Reply> {
  const [sessionId = '', secret = ''] = (body as { refreshToken: string }).refreshToken.split('.');
  const [session] = await read<SessionRow>(SESSION, [sessionId]);
  if (!session || session.ended_at || session.expires_at <= new Date()) throw new HttpError(401);
  const { tenant_id: tenantId, user_id: userId, refresh_hash: old } = session;
  const [account] = await read<AccountRow>(BY_ID, [userId, tenantId]);
  if (account?.status !== '0' || !(await isServed(tenantId))) throw new HttpError(401);
  const newSecret = randomBytes(32).toString('base64url');
  const newHash = hashOf(newSecret);
  const isNewest = timingSafeEqual(Buffer.from(hashOf(secret), 'hex'), Buffer.from(old, 'hex'));
  const expires = new Date(Date.now() + WEEK_MS);
  if (!isNewest || (await change(ROTATE, [newHash, expires, sessionId, tenantId, old, newHash])) !== 1)
    throw new HttpError(401);
  const accessToken = sign({ tenantId, username: account.username, roles: account.roles.split(',') }, key, {
    algorithm: 'HS256',
    subject: `account:${userId}`,
    issuer: 'tenantry',
    audience: 'tenantry',
    expiresIn: ACCESS_SECONDS,
    jwtid: `${sessionId}.${randomBytes(6).toString('base64url')}`,
  });
  const refreshToken = `${sessionId}.${newSecret}`;
  const scope = permissions.join(' ');
  return { data: { accessToken, tokenType: 'Bearer', expiresIn: ACCESS_SECONDS, refreshToken, scope } };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
