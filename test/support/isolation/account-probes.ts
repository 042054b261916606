import { num, type Probe } from './probe';

const USERS = '/system/user-api';
const TENANTS = '/system/tenant-api';
const PASSWORD = 'a-long-password';

const users = { thing: 'user', needs: 'manager', unknown: 'USER_NOT_FOUND', own: 'OK' } as const;
const username = () => `probe ${Math.random()}`;

export const USER_PROBES: readonly Probe[] = [
  {
    ...users,
    thing: 'dept',
    unknown: 'DEPT_NOT_FOUND',
    operation: 'createUser',
    position: 'deptId',
    send: (api, id) => api.post(USERS, { username: username(), password: PASSWORD, deptId: num(id) }),
  },
  {
    ...users,
    thing: 'code',
    unknown: 'TENANT_NOT_FOUND',
    below: 'OK',
    text: 'TENANT_NOT_FOUND',
    huge: 'TENANT_NOT_FOUND',
    operation: 'createUser',
    position: 'tenantId',
    send: (api, id) =>
      api.post(USERS, { username: username(), password: PASSWORD, tenantId: id, roles: ['tenant_admin'] }),
  },
  { ...users, operation: 'getUser', position: 'path', send: (api, id) => api.get(`${USERS}/${id}`) },
  {
    ...users,
    thing: 'dept',
    unknown: 'EMPTY',
    own: 'EMPTY',
    operation: 'listUsers',
    position: 'deptId',
    send: (api, id) => api.get(`${USERS}?deptId=${id}`),
  },
  {
    ...users,
    thing: 'mark',
    unknown: 'EMPTY',
    operation: 'listUsers',
    position: 'username',
    send: (api, id) => api.get(`${USERS}?limit=500&username=${id}`),
  },
  {
    ...users,
    thing: 'userCursor',
    unknown: 'INVALID_INPUT',
    operation: 'listUsers',
    position: 'cursor',
    send: (api, id) => api.get(`${USERS}?limit=1&cursor=${id}`),
  },
  {
    ...users,
    operation: 'updateUser',
    position: 'userId',
    send: (api, id) => api.put(USERS, { userId: num(id), username: username() }),
  },
  {
    ...users,
    operation: 'updateUser',
    position: 'userId, with a tag',
    send: (api, id) => api.put(USERS, { userId: num(id), username: username() }, { 'if-match': '*' }),
  },
  {
    ...users,
    thing: 'dept',
    unknown: 'DEPT_NOT_FOUND',
    operation: 'updateUser',
    position: 'deptId',
    send: async (api, id, own) =>
      api.put(USERS, { userId: await own.user(), username: username(), deptId: num(id) }),
  },
  {
    ...users,
    thing: 'code',
    unknown: 'TENANT_MISMATCH',
    below: 'TENANT_MISMATCH',
    text: 'TENANT_MISMATCH',
    huge: 'TENANT_MISMATCH',
    operation: 'updateUser',
    position: 'tenantId',
    send: async (api, id, own) =>
      api.put(USERS, { userId: await own.user(), username: username(), tenantId: id }),
  },
  {
    ...users,
    isLate: true,
    operation: 'changePassword',
    position: 'userId',
    send: (api, id) => api.put(`${USERS}/password`, { userId: num(id), newPassword: PASSWORD }),
  },
  { ...users, operation: 'deleteUsers', position: 'path', send: (api, id) => api.delete(`${USERS}/${id}`) },
  {
    ...users,
    operation: 'deleteUsers',
    position: 'path, among own',
    send: async (api, id, own) => api.delete(`${USERS}/${await own.user()},${id}`),
  },
];

const tenants = {
  thing: 'tenant',
  needs: 'manager',
  unknown: 'TENANT_NOT_FOUND',
  own: 'OWN_TENANT',
  below: 'OK',
} as const;
const parents = {
  ...tenants,
  thing: 'code',
  unknown: 'PARENT_TENANT_NOT_FOUND',
  own: 'OK',
  text: 'PARENT_TENANT_NOT_FOUND',
} as const;

export const TENANT_PROBES: readonly Probe[] = [
  {
    ...parents,
    operation: 'createTenant',
    position: 'tenantParent',
    send: (api, id) => api.post(TENANTS, { tenantName: 'probe', tenantParent: id }),
  },
  {
    ...tenants,
    own: 'OK',
    operation: 'getTenant',
    position: 'path',
    send: (api, id) => api.get(`${TENANTS}/${id}`),
  },
  {
    ...parents,
    unknown: 'EMPTY',
    below: 'EMPTY',
    above: 'OK',
    text: 'INVALID_INPUT',
    operation: 'listTenants',
    position: 'tenantParent',
    send: (api, id) => api.get(`${TENANTS}?limit=500&tenantParent=${id}`),
  },
  {
    ...tenants,
    thing: 'tenantMark',
    unknown: 'EMPTY',
    own: 'OK',
    operation: 'listTenants',
    position: 'tenantName',
    send: (api, id) => api.get(`${TENANTS}?limit=500&tenantName=${id}`),
  },
  {
    ...tenants,
    thing: 'tenantCursor',
    unknown: 'INVALID_INPUT',
    own: 'OK',
    operation: 'listTenants',
    position: 'cursor',
    send: (api, id) => api.get(`${TENANTS}?limit=1&cursor=${id}`),
  },
  {
    ...tenants,
    operation: 'updateTenant',
    position: 'id',
    send: (api, id) => api.put(TENANTS, { id, tenantName: 'probe' }),
  },
  {
    ...tenants,
    operation: 'updateTenant',
    position: 'id, with a tag',
    send: (api, id) => api.put(TENANTS, { id, tenantName: 'probe' }, { 'if-match': '*' }),
  },
  {
    ...parents,
    operation: 'updateTenant',
    position: 'tenantParent',
    send: async (api, id, own) =>
      api.put(TENANTS, { id: (await own.tenant()).id, tenantName: 'probe', tenantParent: id }),
  },
  {
    ...tenants,
    operation: 'patchTenant',
    position: 'path',
    send: (api, id) => api.patch(`${TENANTS}/${id}`, { tenantName: 'probe' }),
  },
  {
    ...parents,
    operation: 'patchTenant',
    position: 'tenantParent',
    send: async (api, id, own) => api.patch(`${TENANTS}/${(await own.tenant()).id}`, { tenantParent: id }),
  },
  {
    ...tenants,
    operation: 'deleteTenant',
    position: 'path',
    send: (api, id) => api.delete(`${TENANTS}/${id}`),
  },
];

/** They take no id but that of a token; what they tell must be the caller's own all the same. */
export const SIGN_IN_PROBES: readonly Probe[] = [
  {
    ...{ thing: 'mark', needs: 'reader', unknown: 'OK', own: 'OK' },
    operation: 'getMe',
    position: 'an unknown parameter',
    send: (api, id) => api.get(`/auth/me?tenantId=${id}`),
  },
  {
    ...{
      thing: 'code',
      needs: 'nothing',
      unknown: 'BAD_CREDENTIALS',
      own: 'BAD_CREDENTIALS',
      below: 'BAD_CREDENTIALS',
    },
    ...{ text: 'BAD_CREDENTIALS', huge: 'BAD_CREDENTIALS' },
    operation: 'login',
    position: 'tenantId',
    send: (api, id) =>
      api.post('/auth/login', { tenantId: id, username: 'nobody', password: 'wrong-password' }),
  },
];
