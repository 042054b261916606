import type { Caller } from '../support/world';
import type { Stock } from './stock';

/** Which callers ask: each kind has tenants of another size. */
export type Callers = 'normal' | 'small trees' | 'large trees' | 'files';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The caller's own token by default. */
  readonly token?: string;
}

/** One operation of the OpenAPI document, as it is measured. */
export interface Operation {
  readonly name: string;
  readonly callers?: Callers;
  readonly connections?: number;
  /** Whether the textbook Nest application has it. */
  readonly textbook?: true;
  /** Whether its answer holds what is made at random. */
  readonly isRandom?: true;
  /** Makes what so many requests need, each of them once. */
  readonly prepare?: (stock: Stock, callers: readonly Caller[], count: number) => Promise<unknown[]>;
  /** The request of a caller. `turn` counts the requests of this caller, `prepared` is what was made for this one. */
  readonly request: (caller: Caller, turn: number, prepared: unknown) => Request;
}

/** How many tenants ask by turns. */
export const TENANTS = 40;
const DEPT = '/system/dept-api';
const TENANT = '/system/tenant-api';
const USER = '/system/user-api';
const FIELDS = {
  deptName: '研发部',
  orderNum: 1,
  leader: '张三',
  phone: '13800138000',
  email: 'office@example.com',
};
/** All writes of tenants wait for one lock: more connections would only wait longer. */
const TENANT_WRITERS = 8;
const IMPORTED = 10_000;
const TEN = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Of a tenant's departments, ids 0 to 9 are the top, 10 to 99 below them, the others below those. */
const top = ({ firstDept }: Caller, n: number) => firstDept + (n % 10);
const middle = ({ firstDept }: Caller, n: number) => firstDept + 10 + (n % 90);
const leaf = ({ firstDept, depts }: Caller, n: number) => firstDept + 100 + (n % (depts - 100));

/** The first tenant below a caller's, the second account of it: what all tenants have is numbered by turns. */
const next = (id: string | number) => String(Number(id) + TENANTS);

const get = (path: string): Request => ({ method: 'GET', path });
const send = (method: string, path: string, body?: unknown): Request => ({ method, path, body });
const list = (name: string, path: string, limit: number): Operation => ({
  name: `${name}, ${limit}`,
  request: () => get(`${path}?limit=${limit}`),
});

export const operations: readonly Operation[] = [
  { name: 'getDept', textbook: true, request: (caller, turn) => get(`${DEPT}/${leaf(caller, turn)}`) },
  { name: 'getDeptAncestors', request: (caller, turn) => get(`${DEPT}/${leaf(caller, turn)}/ancestors`) },
  { name: 'getTenant', textbook: true, request: ({ tenantId }) => get(`${TENANT}/${tenantId}`) },
  { name: 'getUser', textbook: true, request: ({ userId }) => get(`${USER}/${userId}`) },
  { name: 'getMe', request: () => get('/auth/me') },
  { ...list('listDepts', DEPT, 10), textbook: true },
  { ...list('listDepts', DEPT, 50), textbook: true },
  { ...list('listDepts', DEPT, 500), textbook: true },
  {
    name: 'listDepts, children of one',
    textbook: true,
    request: (caller, turn) => get(`${DEPT}?limit=50&parentId=${middle(caller, turn)}`),
  },
  list('listTenants', TENANT, 10),
  list('listTenants', TENANT, 50),
  list('listUsers', USER, 10),
  list('listUsers', USER, 50),
  { name: 'getDeptTree, 200', callers: 'small trees', textbook: true, request: () => get(`${DEPT}/tree`) },
  {
    name: 'getDeptTree, 5,000',
    callers: 'large trees',
    connections: 4,
    textbook: true,
    request: () => get(`${DEPT}/tree`),
  },
  {
    name: 'createDept',
    textbook: true,
    request: (caller, turn) => send('POST', DEPT, { parentId: middle(caller, turn), ...FIELDS }),
  },
  {
    name: 'updateDept, replace',
    textbook: true,
    request: (caller, turn) => send('PUT', DEPT, { deptId: leaf(caller, turn), ...FIELDS }),
  },
  {
    name: 'updateDept, move of 11',
    textbook: true,
    request: (caller, turn) =>
      send('PUT', DEPT, { deptId: middle(caller, 5), parentId: top(caller, turn % 2), ...FIELDS }),
  },
  {
    name: 'patchDept',
    request: (caller, turn) =>
      send('PATCH', `${DEPT}/${leaf(caller, turn)}`, { leader: '李四', phone: null }),
  },
  {
    name: 'orderDepts, 10',
    request: (caller, turn) =>
      send('PUT', `${DEPT}/order`, { parentId: 0, deptIds: TEN.map((at) => top(caller, at + turn)) }),
  },
  {
    name: 'deleteDepts, one',
    prepare: (stock, callers, count) => stock.depts(callers, count),
    request: (_, __, deptId) => send('DELETE', `${DEPT}/${String(deptId)}`),
  },
  {
    name: 'createTenant',
    connections: TENANT_WRITERS,
    request: () => send('POST', TENANT, { tenantName: '示例科技', packageBo: { menuIds: '1, 100' } }),
  },
  {
    name: 'updateTenant',
    connections: TENANT_WRITERS,
    request: ({ tenantId }) => send('PUT', TENANT, { id: next(tenantId), tenantName: '示例科技' }),
  },
  {
    name: 'patchTenant',
    connections: TENANT_WRITERS,
    request: ({ tenantId }) => send('PATCH', `${TENANT}/${next(tenantId)}`, { contactUserName: '李四' }),
  },
  {
    name: 'deleteTenant',
    connections: TENANT_WRITERS,
    prepare: (stock, callers, count) => stock.tenants(callers, count),
    request: (_, __, tenantId) => send('DELETE', `${TENANT}/${String(tenantId)}`),
  },
  {
    name: 'updateUser',
    request: ({ userId }) =>
      send('PUT', USER, { userId: Number(next(userId)), username: `user ${next(userId)}`, nickname: '张三' }),
  },
  {
    name: 'deleteUsers, one',
    prepare: (stock, callers, count) => stock.accounts(callers, count),
    request: (_, __, userId) => send('DELETE', `${USER}/${String(userId)}`),
  },
  {
    name: 'refresh',
    isRandom: true,
    prepare: (stock, callers, count) => stock.refreshTokens(callers, count),
    request: (_, __, refreshToken) => send('POST', '/auth/refresh', { refreshToken }),
  },
  {
    name: 'logout',
    prepare: (stock, callers, count) => stock.tokens(callers, count),
    request: (_, __, token) => ({ ...send('POST', '/auth/logout'), token: String(token) }),
  },
  {
    name: 'exportDepts, 10,000',
    callers: 'files',
    // The service runs four exports at once, and frees a place a moment after its answer has ended.
    connections: 2,
    request: () => get(`${DEPT}/export`),
  },
  {
    name: 'importDepts, 10,000',
    connections: 2,
    prepare: (stock, _, count) => stock.emptyTenants(count),
    request: (_, __, token) => ({ ...send('POST', `${DEPT}/import`, importFile()), token: String(token) }),
  },
];

/** A file of new departments: ten at the top, ninety below them, the others below those. */
function importFile(): string {
  const pathOf = (n: number): string =>
    n < 10 ? `部门 ${n}` : `${pathOf(n < 100 ? n % 10 : 10 + (n % 90))}/部门 ${n}`;
  const lineOf = (n: number): string =>
    JSON.stringify({ path: pathOf(n), orderNum: n % 100, leader: n % 3 === 0 ? '张三' : null });
  return `${Array.from({ length: IMPORTED }, (_, n) => lineOf(n)).join('\n')}\n`;
}
