import { createHash, createSecretKey } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { read } from './database';

export const key = createSecretKey(process.env.JWT_SECRET ?? '', 'utf8');
export const CHECKS = { algorithms: ['HS256' as const], issuer: 'tenantry', audience: 'tenantry' };
const REMEMBERED_MS = 5000;

/** The headers that every answer of the service has. */
const HEADERS = Object.entries({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'RateLimit-Limit': '999999999',
  'RateLimit-Remaining': '999999999',
  'RateLimit-Reset': '60',
});

export interface Caller {
  readonly tenantId: string;
  readonly userId: number;
  readonly sessionId: string;
  readonly username: string;
  readonly roles: string[];
}

/** Who calls a public operation. */
export const NOBODY: Caller = { tenantId: '', userId: 0, sessionId: '', username: '', roles: [] };
export const JSON_TYPES = ['application/json', 'application/merge-patch+json'];

export class HttpError extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`);
  }
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What an operation answers: `data` goes into the envelope, a stream is sent as it is. */
export interface Reply {
  readonly data: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the entity tag; what was read without one gets the hash of its text. */
  readonly revision?: number;
  readonly isRead?: true;
}

/** One operation of the service, without an application around it. */
export interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly isPublic: boolean;
  readonly handle: (caller: Caller, request: Request) => Promise<Reply>;
}

export const operations: Operation[] = [];

/** An operation for callers with a valid token, of an account that may sign in and a tenant that is served. */
export function operation(
  method: Method,
  path: string,
  handle: Operation['handle'],
  { isPublic = false } = {},
): void {
  operations.push({ method, path, isPublic, handle });
}

export function setCommonHeaders(_: unknown, response: Response, next: () => void): void {
  response.setHeader('X-Request-Id', crypto.randomUUID());
  for (const [name, value] of HEADERS) response.setHeader(name, value);
  next();
}

/** Sets the headers of an answer; gives its body. */
export function bodyOf(
  { data, headers = {}, revision, isRead }: Reply,
  response: Response,
): string | Readable {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (data instanceof Readable) return data;
  const text = JSON.stringify({ code: 200, msg: '操作成功', data });
  if (isRead) response.setHeader('Cache-Control', 'private, no-cache');
  if (isRead || revision !== undefined)
    response.setHeader('ETag', `"${revision ?? createHash('sha1').update(text).digest('base64url')}"`);
  response.type('json');
  return text;
}

export interface Claims {
  readonly tenantId: string;
  readonly sub: string;
  readonly jti: string;
}

/** The caller whom a verified token names, as its account is now. */
export async function callerOf({ tenantId, sub, jti }: Claims): Promise<Caller> {
  const [userId, sessionId] = [Number(sub.slice('account:'.length)), jti.slice(0, 36)];
  const account = await remembered(sessionId, () => findAccount(tenantId, userId, sessionId));
  if (!account) throw new HttpError(401);
  return { tenantId, userId, sessionId, username: account.username, roles: account.roles.split(',') };
}

interface AccountState {
  username: string;
  roles: string;
}

async function findAccount(
  tenantId: string,
  userId: number,
  sessionId: string,
): Promise<AccountState | null> {
  const [account] = await read<AccountState>(
    "SELECT username, roles FROM tenantry_account WHERE tenant_id = ? AND user_id = ? AND name_key = 0 AND status = '0'",
    [tenantId, userId],
  );
  const [session] = await read(
    'SELECT 1 FROM tenantry_session WHERE session_id = ? AND tenant_id = ? AND user_id = ? AND ended_at IS NULL',
    [sessionId, tenantId, userId],
  );
  return account && session ? account : null;
}

export async function requireServed({ tenantId }: Caller): Promise<void> {
  if (!(await isServed(tenantId))) throw new HttpError(403);
}

export function isServed(tenantId: string): Promise<boolean> {
  return remembered(tenantId, async () => {
    const [tenant] = await read<{ status: string; del_flag: string }>(
      'SELECT status, del_flag, start_time, end_time FROM tenantry_tenant WHERE tenant_id = ?',
      [tenantId],
    );
    return tenant?.status === '0' && tenant.del_flag === '0';
  });
}

const memory = new Map<string, { readonly until: number; readonly value: Promise<unknown> }>();

/** Remembers an answer for as long as the service does. */
function remembered<T>(name: string, find: () => Promise<T>, forMs = REMEMBERED_MS): Promise<T> {
  const now = performance.now();
  const known = memory.get(name);
  if (known && known.until > now) return known.value as Promise<T>;
  const value = find();
  memory.set(name, { until: now + forMs, value });
  return value;
}

export function forget(name: string): void {
  memory.delete(name);
}

/** What was read, under its revision, or under a hash of it. */
export function reading(data: unknown, about: Pick<Reply, 'revision' | 'headers'> = {}): Reply {
  return { data, ...about, isRead: true };
}

/** After a change, under the entity tag that the next read has. */
export function changed(revision: number): Reply {
  return { data: null, revision };
}

export function created({ path }: Request, id: number | string): Reply {
  return { data: null, revision: 0, headers: { Location: `${path}/${id}` } };
}

/** A list's page, with a cursor as the service makes it. */
export function pageOf<T>(
  list: string,
  { tenantId }: Caller,
  query: Record<string, unknown>,
  { rows, limit, keyOf }: { rows: T[]; limit: number; keyOf: (row: T) => (string | number)[] },
): { rows: T[]; nextCursor: string | null; hasMore: boolean } {
  const hasMore = rows.length > limit;
  if (!hasMore) return { rows, nextCursor: null, hasMore };
  rows.length = limit;
  const last = rows[limit - 1];
  const { limit: _, cursor: __, ...filters } = query;
  const listed = [tenantId, Object.entries(filters).map(([k, v]) => [k, Number(v)])];
  return { rows, nextCursor: seal(list, listed, last && keyOf(last)), hasMore };
}

function seal(list: string, listed: unknown[], place: unknown): string {
  const text = Buffer.from(JSON.stringify(place)).toString('base64url');
  const hash = createHash('sha256').update(JSON.stringify([list, listed, text]));
  return `${text}.${hash.digest().subarray(0, 12).toString('base64url')}`;
}

const CURSOR_MS = 1000;
export const PLATFORM = '000000';
/** The last place of a version in the journal. */
const LAST = 2 ** 31 - 1;

/** Where in the journal a list begins, as a header. */
export async function changeCursor({ tenantId }: Caller): Promise<Record<string, string>> {
  const find = async (): Promise<string> => {
    const states = await read<{ code: string; version: number }>(
      'SELECT tenant_id AS code, tree_ver AS version FROM tenantry_tenant WHERE tenant_id IN (?, ?)',
      [tenantId, PLATFORM],
    );
    const [own, platform] = [tenantId, PLATFORM].map((each) => states.find(({ code }) => code === each));
    return seal('change', [tenantId], [own?.version, LAST, platform?.version, LAST]);
  };
  return { 'X-Change-Cursor': await remembered(`cursor ${tenantId}`, find, CURSOR_MS) };
}

/** The place that a cursor names; its digest is not checked here. */
export function placeIn(cursor: unknown): (string | number)[] | null {
  if (typeof cursor !== 'string') return null;
  return JSON.parse(Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString()) as (string | number)[];
}

/** Shanghai has no summer time: adding hours is the cheapest way to its clock. */
const AHEAD_MS = 8 * 60 * 60 * 1000;

export function formatTime(time: Date): string {
  const text = new Date(time.getTime() + AHEAD_MS).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

export function formatTimeOrNull(time: Date | null): string | null {
  return time === null ? null : formatTime(time);
}
