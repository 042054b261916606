import type { Answer, ApiClient } from '../../../src/server/testing';

/** What stands in the place of an id. */
export type Kind = 'own' | 'below' | 'above' | 'foreign' | 'deleted' | 'recycled' | 'never' | 'text' | 'huge';

type Cursor = 'deptCursor' | 'userCursor' | 'tenantCursor';
/** What the id names: a row, a tenant by its code, a text in rows, the place in a list, a used key. */
export type Thing = 'dept' | 'user' | 'tenant' | 'code' | 'mark' | 'tenantMark' | Cursor | 'key';

/** Rows of the caller's own that a probe may spoil: new ones each time. */
export interface Own {
  readonly dept: () => Promise<number>;
  readonly user: () => Promise<number>;
  /** A tenant below the caller's. */
  readonly tenant: () => Promise<{ readonly id: string; readonly tenantId: string }>;
}

/** `OK`, `EMPTY` (a list without rows), or the reason of a refusal. */
export type Outcome = string;
type Send = (api: ApiClient, id: string, own: Own) => Promise<Answer> | Answer;

interface Rules {
  readonly thing: Thing;
  /** Whether any role may do it, or only those that manage. */
  readonly needs: 'reader' | 'manager' | 'nothing';
  /** For an id that is nothing to the caller: foreign, deleted, never there. All of them alike. */
  readonly unknown: Outcome;
  readonly own: Outcome;
  /** For a tenant below the caller's, and for the one right above it. */
  readonly below?: Outcome;
  readonly above?: Outcome;
  readonly text?: Outcome;
  readonly huge?: Outcome;
  /** The role is checked only after the input. */
  readonly isLate?: true;
}

/** One position of one operation in which an id can stand. */
export interface Probe extends Rules {
  readonly operation: string;
  readonly position: string;
  readonly send: Send;
}

type Row = readonly [operation: string, position: string, send: Send, differences?: Partial<Rules>];
const probes = (rules: Rules, rows: readonly Row[]): Probe[] =>
  rows.map(([operation, position, send, differences]) => ({
    ...rules,
    ...differences,
    operation,
    position,
    send,
  }));

/** As a JSON number, where it is one. */
const num = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : id);

const DEPTS = '/system/dept-api';
const USERS = '/system/user-api';
const TENANTS = '/system/tenant-api';
const PASSWORD = 'a-long-password';
const CSV = { 'content-type': 'text/csv' };
const NDJSON = { 'content-type': 'application/x-ndjson' };
const ANY = { 'if-match': '*' };
const FIRST = { 'if-match': '"1"' };
const tenantName = 'probe';
const username = () => `probe ${Math.random()}`;
const allSay = (reason: Outcome) => ({ unknown: reason, below: reason, text: reason, huge: reason });

const reads: Rules = { thing: 'dept', needs: 'reader', unknown: 'DEPT_NOT_FOUND', own: 'OK' };
const writes: Rules = { ...reads, needs: 'manager' };
const moves: Rules = { ...writes, unknown: 'PARENT_NOT_FOUND' };
/** No tenant but the caller's own can be named, known or not. */
const codes: Rules = { ...writes, thing: 'code', ...allSay('TENANT_MISMATCH') };
const searches: Rules = { thing: 'mark', needs: 'reader', unknown: 'EMPTY', own: 'OK' };
const users: Rules = { thing: 'user', needs: 'manager', unknown: 'USER_NOT_FOUND', own: 'OK' };
const tenants: Rules = {
  ...users,
  thing: 'tenant',
  unknown: 'TENANT_NOT_FOUND',
  own: 'OWN_TENANT',
  below: 'OK',
};
const parents: Rules = {
  ...{ thing: 'code', needs: 'manager', own: 'OK', below: 'OK' },
  ...{ unknown: 'PARENT_TENANT_NOT_FOUND', text: 'PARENT_TENANT_NOT_FOUND' },
};

const DEPT_PROBES = [
  ...probes(reads, [
    ['getDept', 'path', (api, id) => api.get(`${DEPTS}/${id}`)],
    ['getDept', 'path, with a tag', (api, id) => api.get(`${DEPTS}/${id}`, { 'if-none-match': '"x"' })],
    ['getDeptAncestors', 'path', (api, id) => api.get(`${DEPTS}/${id}/ancestors`)],
    ['listDepts', 'ancestorId', (api, id) => api.get(`${DEPTS}?ancestorId=${id}`)],
    [
      'listDepts',
      'parentId',
      (api, id) => api.get(`${DEPTS}?parentId=${id}`),
      { unknown: 'EMPTY', own: 'EMPTY' },
    ],
    ['listDepts', 'ids', (api, id) => api.get(`${DEPTS}?ids=${id}`), { unknown: 'EMPTY' }],
    ['listDepts', 'ids, among own', (api, id, own) => among(api, id, own), { unknown: 'OK' }],
    ['getDeptTree', 'rootId', (api, id) => api.get(`${DEPTS}/tree?rootId=${id}`)],
  ]),
  ...probes(searches, [
    ['listDepts', 'deptName', (api, id) => api.get(`${DEPTS}?limit=500&deptName=${id}`)],
    ['listDepts', 'leader', (api, id) => api.get(`${DEPTS}?limit=500&leader=${id}%20leader`)],
    ['getDeptTree', 'deptName', (api, id) => api.get(`${DEPTS}/tree?deptName=${id}`)],
    [
      'exportDepts',
      'an unknown parameter',
      (api, id) => api.get(`${DEPTS}/export?tenantId=${id}`),
      { unknown: 'OK' },
    ],
  ]),
  ...probes({ ...searches, thing: 'deptCursor', unknown: 'INVALID_INPUT' }, [
    ['listDepts', 'cursor', (api, id) => api.get(`${DEPTS}?limit=1&cursor=${id}`)],
  ]),
  ...probes(moves, [
    ['createDept', 'parentId', (api, id) => api.post(DEPTS, { parentId: num(id), deptName: 'probe' })],
    [
      'updateDept',
      'parentId',
      async (api, id, own) => api.put(DEPTS, { deptId: await own.dept(), parentId: num(id) }),
    ],
    [
      'patchDept',
      'parentId',
      async (api, id, own) => api.patch(`${DEPTS}/${await own.dept()}`, { parentId: num(id) }),
    ],
    [
      'orderDepts',
      'parentId',
      async (api, id, own) => order(api, [await own.dept()], num(id)),
      { own: 'DEPT_NOT_A_CHILD' },
    ],
  ]),
  ...probes(codes, [
    ['createDept', 'tenantId', (api, id) => api.post(DEPTS, { tenantId: id })],
    [
      'updateDept',
      'tenantId',
      async (api, id, own) => api.put(DEPTS, { deptId: await own.dept(), tenantId: id }),
    ],
  ]),
  ...probes(writes, [
    ['updateDept', 'deptId', (api, id) => api.put(DEPTS, { deptId: num(id), deptName: 'probe' })],
    [
      'updateDept',
      'deptId, with a tag',
      (api, id) => api.put(DEPTS, { deptId: num(id) }, FIRST),
      { own: 'STALE' },
    ],
    [
      'updateDept',
      'deptId, to an own parent',
      async (api, id, own) => api.put(DEPTS, { deptId: num(id), parentId: await own.dept() }),
    ],
    ['patchDept', 'path', (api, id) => api.patch(`${DEPTS}/${id}`, { leader: 'probe' })],
    ['patchDept', 'path, with a tag', (api, id) => api.patch(`${DEPTS}/${id}`, { leader: 'probe' }, ANY)],
    ['orderDepts', 'deptIds', (api, id) => order(api, [num(id)])],
    ['orderDepts', 'deptIds, among own', async (api, id, own) => order(api, [await own.dept(), num(id)])],
    ['deleteDepts', 'path', (api, id) => api.delete(`${DEPTS}/${id}`)],
    ['deleteDepts', 'path, with a tag', (api, id) => api.delete(`${DEPTS}/${id}`, FIRST), { own: 'STALE' }],
    [
      'deleteDepts',
      'path, among own',
      async (api, id, own) => api.delete(`${DEPTS}/${await own.dept()},${id}`),
    ],
    [
      'createDept',
      'Idempotency-Key',
      (api, id) => api.post(DEPTS, { deptName: 'once' }, { 'idempotency-key': id }),
      { thing: 'key', unknown: 'OK' },
    ],
    [
      'importDepts',
      'path',
      (api, id) => api.post(`${DEPTS}/import?dryRun=true`, `path,leader\r\n${id} live,x\r\n`, CSV),
      { thing: 'mark', unknown: 'OK' },
    ],
    [
      'importDepts',
      'columns of others',
      (api, id) => importColumns(api, id),
      { unknown: 'OK', text: 'OK', huge: 'OK' },
    ],
  ]),
];

async function among(api: ApiClient, id: string, own: Own): Promise<Answer> {
  return api.get(`${DEPTS}?ids=${await own.dept()},${id}`);
}

function order(api: ApiClient, deptIds: unknown[], parentId?: unknown): Promise<Answer> {
  return api.put(`${DEPTS}/order`, { parentId, deptIds });
}

function importColumns(api: ApiClient, id: string): Promise<Answer> {
  const line = JSON.stringify({ path: 'probed', deptId: num(id), parentId: num(id) });
  return api.post(`${DEPTS}/import`, `${line}\n`, NDJSON);
}

const USER_PROBES = [
  ...probes({ ...users, thing: 'dept', unknown: 'DEPT_NOT_FOUND' }, [
    [
      'createUser',
      'deptId',
      (api, id) => api.post(USERS, { username: username(), password: PASSWORD, deptId: num(id) }),
    ],
    [
      'updateUser',
      'deptId',
      async (api, id, own) =>
        api.put(USERS, { userId: await own.user(), username: username(), deptId: num(id) }),
    ],
    [
      'listUsers',
      'deptId',
      (api, id) => api.get(`${USERS}?deptId=${id}`),
      { unknown: 'EMPTY', own: 'EMPTY' },
    ],
  ]),
  ...probes({ ...users, thing: 'code', ...allSay('TENANT_NOT_FOUND'), below: 'OK' }, [
    [
      'createUser',
      'tenantId',
      (api, id) =>
        api.post(USERS, { username: username(), password: PASSWORD, tenantId: id, roles: ['tenant_admin'] }),
    ],
  ]),
  ...probes({ ...users, thing: 'code', ...allSay('TENANT_MISMATCH') }, [
    [
      'updateUser',
      'tenantId',
      async (api, id, own) =>
        api.put(USERS, { userId: await own.user(), username: username(), tenantId: id }),
    ],
  ]),
  ...probes(users, [
    ['getUser', 'path', (api, id) => api.get(`${USERS}/${id}`)],
    [
      'listUsers',
      'username',
      (api, id) => api.get(`${USERS}?limit=500&username=${id}`),
      { thing: 'mark', unknown: 'EMPTY' },
    ],
    [
      'listUsers',
      'cursor',
      (api, id) => api.get(`${USERS}?limit=1&cursor=${id}`),
      { thing: 'userCursor', unknown: 'INVALID_INPUT' },
    ],
    ['updateUser', 'userId', (api, id) => api.put(USERS, { userId: num(id), username: username() })],
    [
      'updateUser',
      'userId, with a tag',
      (api, id) => api.put(USERS, { userId: num(id), username: username() }, ANY),
    ],
    [
      'changePassword',
      'userId',
      (api, id) => api.put(`${USERS}/password`, { userId: num(id), newPassword: PASSWORD }),
      { isLate: true },
    ],
    ['deleteUsers', 'path', (api, id) => api.delete(`${USERS}/${id}`)],
    [
      'deleteUsers',
      'path, among own',
      async (api, id, own) => api.delete(`${USERS}/${await own.user()},${id}`),
    ],
  ]),
];

const TENANT_PROBES = [
  ...probes(parents, [
    ['createTenant', 'tenantParent', (api, id) => api.post(TENANTS, { tenantName, tenantParent: id })],
    [
      'updateTenant',
      'tenantParent',
      async (api, id, own) => api.put(TENANTS, { id: (await own.tenant()).id, tenantName, tenantParent: id }),
    ],
    [
      'patchTenant',
      'tenantParent',
      async (api, id, own) => api.patch(`${TENANTS}/${(await own.tenant()).id}`, { tenantParent: id }),
    ],
    [
      'listTenants',
      'tenantParent',
      (api, id) => api.get(`${TENANTS}?limit=500&tenantParent=${id}`),
      { unknown: 'EMPTY', below: 'EMPTY', above: 'OK', text: 'INVALID_INPUT' },
    ],
  ]),
  ...probes(tenants, [
    ['getTenant', 'path', (api, id) => api.get(`${TENANTS}/${id}`), { own: 'OK' }],
    [
      'listTenants',
      'tenantName',
      (api, id) => api.get(`${TENANTS}?limit=500&tenantName=${id}`),
      { thing: 'tenantMark', unknown: 'EMPTY', own: 'OK' },
    ],
    [
      'listTenants',
      'cursor',
      (api, id) => api.get(`${TENANTS}?limit=1&cursor=${id}`),
      { thing: 'tenantCursor', unknown: 'INVALID_INPUT', own: 'OK' },
    ],
    ['updateTenant', 'id', (api, id) => api.put(TENANTS, { id, tenantName })],
    ['updateTenant', 'id, with a tag', (api, id) => api.put(TENANTS, { id, tenantName }, ANY)],
    ['patchTenant', 'path', (api, id) => api.patch(`${TENANTS}/${id}`, { tenantName })],
    ['deleteTenant', 'path', (api, id) => api.delete(`${TENANTS}/${id}`)],
  ]),
];

/** They take no id but that of a token; what they tell must be the caller's own all the same. */
const SIGN_IN_PROBES = [
  ...probes({ thing: 'mark', needs: 'reader', unknown: 'OK', own: 'OK' }, [
    ['getMe', 'an unknown parameter', (api, id) => api.get(`/auth/me?tenantId=${id}`)],
  ]),
  ...probes({ thing: 'code', needs: 'nothing', own: 'BAD_CREDENTIALS', ...allSay('BAD_CREDENTIALS') }, [
    [
      'login',
      'tenantId',
      (api, id) => api.post('/auth/login', { tenantId: id, username: 'nobody', password: 'wrong-password' }),
    ],
  ]),
];

export const PROBES: readonly Probe[] = [...DEPT_PROBES, ...USER_PROBES, ...TENANT_PROBES, ...SIGN_IN_PROBES];
