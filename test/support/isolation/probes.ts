import type { Answer, ApiClient } from '../../../src/server/testing';

/** What stands in the place of an id. */
export type Kind = 'own' | 'below' | 'above' | 'foreign' | 'deleted' | 'recycled' | 'never' | 'text' | 'huge';

type Cursor = 'deptCursor' | 'userCursor' | 'machineKeyCursor' | 'tenantCursor' | 'entryCursor';
type Key = 'key' | 'spent' | 'reservation';
/** What the id names: a row, a tenant by its code, a text in rows, the place in a list, a used key. */
export type Thing =
  | 'dept'
  | 'user'
  | 'session'
  | 'machineKey'
  | 'hook'
  | 'tenant'
  | 'code'
  | 'mark'
  | 'tenantMark'
  | Cursor
  | Key;

/** Rows of the caller's own that a probe may spoil: new ones each time. */
export interface Own {
  readonly dept: () => Promise<number>;
  readonly deletedDept: () => Promise<number>;
  readonly user: () => Promise<number>;
  readonly machineKey: () => Promise<number>;
  /** A webhook that is disabled. */
  readonly hook: () => Promise<number>;
  /** The key of an active reservation. */
  readonly reservation: () => Promise<string>;
  /** A tenant below the caller's. */
  readonly tenant: () => Promise<{ readonly id: string; readonly tenantId: string }>;
  readonly deletedTenant: () => Promise<{ readonly id: string }>;
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
  /** For what the caller's own tenant has deleted, where that is not as if it never was. */
  readonly deleted?: Outcome;
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

/**
 * `METHOD path`, and a body. In both, `<id>` is the probed id, `<num>` the same as JSON, `<dept>`, `<user>`, `<key>` and `<tenant>` are
 * new rows of the caller's own, `<gone dept>` and `<gone tenant>` are deleted ones, `<now>` is the time and `<name>` a new name.
 */
type Row = readonly [
  operation: string,
  position: string,
  request: string,
  body?: string | undefined,
  more?: More,
];
interface More extends Partial<Rules> {
  readonly headers?: Readonly<Record<string, string>>;
}

const probes = (rules: Rules, rows: readonly Row[]): Probe[] =>
  rows.map(([operation, position, request, body, { headers, ...differences } = {}]) => ({
    ...{ ...rules, ...differences, operation, position },
    send: async (api, id, own) => {
      const [method = '', path = ''] = (await filled(request, id, own)).split(' ');
      const json = { 'content-type': 'application/json' };
      return api.send(method, path, body && (await filled(body, id, own)), { ...(body && json), ...headers });
    },
  }));

async function filled(template: string, id: string, own: Own): Promise<string> {
  let text = template.replaceAll('<id>', id).replaceAll('<num>', JSON.stringify(num(id)));
  if (text.includes('<dept>')) text = text.replace('<dept>', String(await own.dept()));
  if (text.includes('<user>')) text = text.replace('<user>', String(await own.user()));
  if (text.includes('<key>')) text = text.replace('<key>', String(await own.machineKey()));
  if (text.includes('<tenant>')) text = text.replace('<tenant>', (await own.tenant()).id);
  if (text.includes('<gone dept>')) text = text.replace('<gone dept>', String(await own.deletedDept()));
  if (text.includes('<gone tenant>')) text = text.replace('<gone tenant>', (await own.deletedTenant()).id);
  return text.replace('<now>', new Date().toISOString()).replace('<name>', `probe ${Math.random()}`);
}

/** As a JSON number, where it is one. */
function num(id: string): string | number {
  return /^\d{1,15}$/.test(id) ? Number(id) : id;
}

const DEPTS = '/system/dept-api';
const USERS = '/system/user-api';
const TENANTS = '/system/tenant-api';
const KEYS = '/system/key-api';
const SIGN_INS = '/system/sign-in-api';
const HOOKS = '/system/webhook-api';
const CHANGES = '/system/change-api';
const QUOTAS = '/system/quota-api';
const ENTITLEMENTS = '/system/entitlement-api';
/** Nobody listens there, and nothing is sent to it: it is disabled. */
const HOOK = '"url":"http://127.0.0.1:9/","status":"1"';
const CSV = { 'content-type': 'text/csv' };
const NDJSON = { 'content-type': 'application/x-ndjson' };
const ANY = { 'if-match': '*' };
const FIRST = { 'if-match': '"1"' };
const ACCOUNT = '"username":"<name>","password":"a-long-password"';
const KEY = '"name":"<name>","permissions":["dept:read"]';
const allSay = (reason: Outcome) => ({ unknown: reason, below: reason, text: reason, huge: reason });

const reads: Rules = { thing: 'dept', needs: 'reader', unknown: 'DEPT_NOT_FOUND', own: 'OK' };
const writes: Rules = { ...reads, needs: 'manager' };
const searches: Rules = { thing: 'mark', needs: 'reader', unknown: 'EMPTY', own: 'OK' };
const users: Rules = { thing: 'user', needs: 'manager', unknown: 'USER_NOT_FOUND', own: 'OK' };
const keys: Rules = { thing: 'machineKey', needs: 'manager', unknown: 'KEY_NOT_FOUND', own: 'OK' };
const tenants: Rules = {
  ...users,
  thing: 'tenant',
  unknown: 'TENANT_NOT_FOUND',
  own: 'OWN_TENANT',
  below: 'OK',
};
const NO_PARENT = 'PARENT_TENANT_NOT_FOUND';
const parents: Rules = { ...users, thing: 'code', below: 'OK', unknown: NO_PARENT, text: NO_PARENT };
const none = undefined;

export const PROBES: readonly Probe[] = [
  ...probes(reads, [
    ['getDept', 'path', `GET ${DEPTS}/<id>`],
    ['getDept', 'path, with a tag', `GET ${DEPTS}/<id>`, none, { headers: { 'if-none-match': '"x"' } }],
    ['getDeptAncestors', 'path', `GET ${DEPTS}/<id>/ancestors`],
    ['listDepts', 'ancestorId', `GET ${DEPTS}?ancestorId=<id>`],
    ['listDepts', 'parentId', `GET ${DEPTS}?parentId=<id>`, none, { unknown: 'EMPTY', own: 'EMPTY' }],
    ['listDepts', 'ids', `GET ${DEPTS}?ids=<id>`, none, { unknown: 'EMPTY' }],
    ['listDepts', 'ids, among own', `GET ${DEPTS}?ids=<dept>,<id>`, none, { unknown: 'OK' }],
    ['getDeptTree', 'rootId', `GET ${DEPTS}/tree?rootId=<id>`],
  ]),
  ...probes(reads, [
    ['getDept', 'path, as of before', `GET ${DEPTS}/<id>?asOf=0`, none, { own: 'DEPT_NOT_FOUND' }],
    ['getDept', 'path, as of now', `GET ${DEPTS}/<id>?asOf=<now>`],
    ['getDeptTree', 'rootId, as of now', `GET ${DEPTS}/tree?rootId=<id>&asOf=<now>`],
    ['listDepts', 'parentId, as of now', `GET ${DEPTS}?parentId=<id>&asOf=<now>`, none, { own: 'EMPTY' }],
  ]),
  ...probes(searches, [
    ['listDepts', 'deptName', `GET ${DEPTS}?limit=500&deptName=<id>`],
    ['listDepts', 'leader', `GET ${DEPTS}?limit=500&leader=<id>%20leader`],
    ['getDeptTree', 'deptName', `GET ${DEPTS}/tree?deptName=<id>`],
    ['exportDepts', 'an unknown parameter', `GET ${DEPTS}/export?tenantId=<id>`, none, { unknown: 'OK' }],
  ]),
  ...probes({ ...searches, thing: 'deptCursor', unknown: 'INVALID_INPUT' }, [
    ['listDepts', 'cursor', `GET ${DEPTS}?limit=1&cursor=<id>`],
  ]),
  ...probes(
    { ...searches, thing: 'deptCursor', needs: 'manager', own: 'INVALID_INPUT', unknown: 'INVALID_INPUT' },
    [
      ['diffDepts', 'cursor', `GET ${DEPTS}/diff?from=0&cursor=<id>`],
      ['getDeptHistory', 'cursor', `GET ${DEPTS}/<dept>/history?cursor=<id>`],
    ],
  ),
  ...probes({ ...searches, needs: 'manager', unknown: 'OK' }, [
    ['diffDepts', 'an unknown parameter', `GET ${DEPTS}/diff?from=0&limit=500&tenantId=<id>`],
  ]),
  ...probes(
    { ...searches, thing: 'deptCursor', needs: 'manager', own: 'INVALID_INPUT', unknown: 'INVALID_INPUT' },
    [['listChanges', 'after', `GET ${CHANGES}?after=<id>`]],
  ),
  // Ids of tenants are longer than those of departments, so none is too long here.
  ...probes({ ...writes, unknown: 'EMPTY', deleted: 'OK', huge: 'EMPTY' }, [
    ['listChanges', 'id', `GET ${CHANGES}?kind=dept&id=<id>`],
    ['listChanges', 'id, newest first', `GET ${CHANGES}?kind=dept&order=desc&id=<id>`],
  ]),
  ...probes({ ...searches, needs: 'manager', unknown: 'OK' }, [
    ['listChanges', 'an unknown parameter', `GET ${CHANGES}?kind=dept&id=<dept>&tenantId=<id>`],
  ]),
  ...probes({ ...writes, deleted: 'OK' }, [['getDeptHistory', 'path', `GET ${DEPTS}/<id>/history`]]),
  // Nothing is restored: the deleted rows of this world must stay deleted.
  ...probes({ ...writes, own: 'NOT_DELETED', deleted: 'PARENT_NOT_FOUND' }, [
    ['restoreDept', 'path', `POST ${DEPTS}/<id>/restore`, '{"parentId":4199999999}'],
  ]),
  ...probes({ ...writes, unknown: 'PARENT_NOT_FOUND' }, [
    ['restoreDept', 'parentId', `POST ${DEPTS}/<gone dept>/restore`, '{"parentId":<num>}'],
    ['createDept', 'parentId', `POST ${DEPTS}`, '{"parentId":<num>,"deptName":"probe"}'],
    ['updateDept', 'parentId', `PUT ${DEPTS}`, '{"deptId":<dept>,"parentId":<num>}'],
    ['patchDept', 'parentId', `PATCH ${DEPTS}/<dept>`, '{"parentId":<num>}'],
    [
      'orderDepts',
      'parentId',
      `PUT ${DEPTS}/order`,
      '{"parentId":<num>,"deptIds":[<dept>]}',
      { own: 'DEPT_NOT_A_CHILD' },
    ],
  ]),
  // No tenant but the caller's own can be named, known or not.
  ...probes({ ...writes, thing: 'code', ...allSay('TENANT_MISMATCH') }, [
    ['createDept', 'tenantId', `POST ${DEPTS}`, '{"tenantId":"<id>"}'],
    ['updateDept', 'tenantId', `PUT ${DEPTS}`, '{"deptId":<dept>,"tenantId":"<id>"}'],
  ]),
  ...probes(writes, [
    ['updateDept', 'deptId', `PUT ${DEPTS}`, '{"deptId":<num>,"deptName":"probe"}'],
    [
      'updateDept',
      'deptId, with a tag',
      `PUT ${DEPTS}`,
      '{"deptId":<num>}',
      { headers: FIRST, own: 'STALE' },
    ],
    ['updateDept', 'deptId, to an own parent', `PUT ${DEPTS}`, '{"deptId":<num>,"parentId":<dept>}'],
    ['patchDept', 'path', `PATCH ${DEPTS}/<id>`, '{"leader":"probe"}'],
    ['patchDept', 'path, with a tag', `PATCH ${DEPTS}/<id>`, '{"leader":"probe"}', { headers: ANY }],
    ['orderDepts', 'deptIds', `PUT ${DEPTS}/order`, '{"deptIds":[<num>]}'],
    ['orderDepts', 'deptIds, among own', `PUT ${DEPTS}/order`, '{"deptIds":[<dept>,<num>]}'],
    ['deleteDepts', 'path', `DELETE ${DEPTS}/<id>`],
    ['deleteDepts', 'path, with a tag', `DELETE ${DEPTS}/<id>`, none, { headers: FIRST, own: 'STALE' }],
    ['deleteDepts', 'path, among own', `DELETE ${DEPTS}/<dept>,<id>`],
    ['deleteDepts', 'path, with all below it', `DELETE ${DEPTS}/<id>?subtree=true`],
  ]),
  ...probes({ ...writes, unknown: 'OK', text: 'OK', huge: 'OK' }, [
    [
      'importDepts',
      'columns of others',
      `POST ${DEPTS}/import`,
      '{"path":"<name>","deptId":<num>}\n',
      { headers: NDJSON },
    ],
    [
      'importDepts',
      'path',
      `POST ${DEPTS}/import?dryRun=true`,
      'path,leader\r\n<id> live,x\r\n',
      { thing: 'mark', headers: CSV },
    ],
  ]),
  keyProbe(),
  ...probes({ ...users, thing: 'dept', unknown: 'DEPT_NOT_FOUND' }, [
    ['createUser', 'deptId', `POST ${USERS}`, `{${ACCOUNT},"deptId":<num>}`],
    ['updateUser', 'deptId', `PUT ${USERS}`, '{"userId":<user>,"username":"<name>","deptId":<num>}'],
    ['patchUser', 'deptId', `PATCH ${USERS}/<user>`, '{"deptId":<num>}'],
    ['listUsers', 'deptId', `GET ${USERS}?deptId=<id>`, none, { unknown: 'EMPTY', own: 'EMPTY' }],
    ['patchUser', 'scopeDeptIds', `PATCH ${USERS}/<user>`, '{"dataScope":"custom","scopeDeptIds":[<num>]}'],
    [
      'patchUser',
      'managedDeptIds',
      `PATCH ${USERS}/<user>`,
      '{"roles":["dept_admin"],"managedDeptIds":[<num>]}',
    ],
  ]),
  ...probes({ ...users, thing: 'code', ...allSay('TENANT_NOT_FOUND'), below: 'OK' }, [
    ['createUser', 'tenantId', `POST ${USERS}`, `{${ACCOUNT},"tenantId":"<id>","roles":["tenant_admin"]}`],
  ]),
  ...probes({ ...users, thing: 'code', ...allSay('TENANT_MISMATCH') }, [
    ['updateUser', 'tenantId', `PUT ${USERS}`, '{"userId":<user>,"username":"<name>","tenantId":"<id>"}'],
    ['patchUser', 'tenantId', `PATCH ${USERS}/<user>`, '{"tenantId":"<id>"}'],
  ]),
  ...probes({ ...users, thing: 'mark', unknown: 'EMPTY' }, [
    ['listUsers', 'username', `GET ${USERS}?limit=500&username=<id>`],
  ]),
  ...probes({ ...users, thing: 'userCursor', unknown: 'INVALID_INPUT' }, [
    ['listUsers', 'cursor', `GET ${USERS}?limit=1&cursor=<id>`],
    ['getUserHistory', 'cursor', `GET ${USERS}/<user>/history?cursor=<id>`, none, { own: 'INVALID_INPUT' }],
    [
      'listUserSessions',
      'cursor',
      `GET ${USERS}/<user>/sessions?cursor=<id>`,
      none,
      { own: 'INVALID_INPUT' },
    ],
    ['listSignIns', 'cursor', `GET ${SIGN_INS}?cursor=<id>`, none, { own: 'INVALID_INPUT' }],
  ]),
  // Sessions of accounts that are not the one in the path.
  ...probes({ ...users, thing: 'session', unknown: 'SESSION_NOT_FOUND', own: 'SESSION_NOT_FOUND' }, [
    ['endUserSession', 'sessionId', `DELETE ${USERS}/<user>/sessions/<id>`],
  ]),
  ...probes({ ...users, thing: 'code', ...allSay('OK') }, [
    ['listSignIns', 'an unknown parameter', `GET ${SIGN_INS}?limit=500&tenantId=<id>`],
  ]),
  ...probes(users, [
    ['getUser', 'path', `GET ${USERS}/<id>`],
    ['getUserHistory', 'path', `GET ${USERS}/<id>/history`, none, { deleted: 'OK' }],
    ['listUserSessions', 'path', `GET ${USERS}/<id>/sessions`],
    ['endUserSessions', 'path', `DELETE ${USERS}/<id>/sessions`],
    ['endUserSession', 'path', `DELETE ${USERS}/<id>/sessions/x`, none, { own: 'SESSION_NOT_FOUND' }],
    ['listSignIns', 'userId', `GET ${SIGN_INS}?userId=<id>`, none, { unknown: 'EMPTY' }],
    ['patchUser', 'path', `PATCH ${USERS}/<id>`, '{"nickname":"probe"}'],
    ['patchUser', 'path, with a tag', `PATCH ${USERS}/<id>`, '{"nickname":"probe"}', { headers: ANY }],
    ['updateUser', 'userId', `PUT ${USERS}`, '{"userId":<num>,"username":"<name>"}'],
    [
      'updateUser',
      'userId, with a tag',
      `PUT ${USERS}`,
      '{"userId":<num>,"username":"<name>"}',
      { headers: ANY },
    ],
    [
      'changePassword',
      'userId',
      `PUT ${USERS}/password`,
      '{"userId":<num>,"newPassword":"a-long-password"}',
      { isLate: true },
    ],
    ['deleteUsers', 'path', `DELETE ${USERS}/<id>`],
    ['deleteUsers', 'path, among own', `DELETE ${USERS}/<user>,<id>`],
  ]),
  ...probes({ ...keys, thing: 'dept', unknown: 'DEPT_NOT_FOUND' }, [
    ['createKey', 'scopeDeptIds', `POST ${KEYS}`, `{${KEY},"dataScope":"custom","scopeDeptIds":[<num>]}`],
    [
      'updateKey',
      'managedDeptIds',
      `PUT ${KEYS}`,
      `{"keyId":<key>,${KEY},"roles":["dept_admin"],"managedDeptIds":[<num>]}`,
    ],
    ['patchKey', 'scopeDeptIds', `PATCH ${KEYS}/<key>`, '{"dataScope":"custom","scopeDeptIds":[<num>]}'],
  ]),
  ...probes({ ...keys, thing: 'code', ...allSay('TENANT_MISMATCH') }, [
    ['createKey', 'tenantId', `POST ${KEYS}`, `{${KEY},"tenantId":"<id>"}`],
    ['updateKey', 'tenantId', `PUT ${KEYS}`, `{"keyId":<key>,${KEY},"tenantId":"<id>"}`],
    ['patchKey', 'tenantId', `PATCH ${KEYS}/<key>`, '{"tenantId":"<id>"}'],
  ]),
  ...probes({ ...keys, thing: 'machineKeyCursor', unknown: 'INVALID_INPUT' }, [
    ['listKeys', 'cursor', `GET ${KEYS}?limit=1&cursor=<id>`],
    ['getKeyHistory', 'cursor', `GET ${KEYS}/<key>/history?cursor=<id>`, none, { own: 'INVALID_INPUT' }],
  ]),
  ...probes({ ...keys, thing: 'code', ...allSay('OK') }, [
    ['listKeys', 'an unknown parameter', `GET ${KEYS}?tenantId=<id>`],
  ]),
  ...probes(keys, [
    ['getKey', 'path', `GET ${KEYS}/<id>`],
    ['getKeyHistory', 'path', `GET ${KEYS}/<id>/history`, none, { deleted: 'OK' }],
    ['patchKey', 'path', `PATCH ${KEYS}/<id>`, '{"status":"1"}'],
    ['patchKey', 'path, with a tag', `PATCH ${KEYS}/<id>`, '{"status":"1"}', { headers: ANY }],
    ['updateKey', 'keyId', `PUT ${KEYS}`, `{"keyId":<num>,${KEY}}`],
    ['deleteKeys', 'path', `DELETE ${KEYS}/<id>`],
    ['deleteKeys', 'path, among own', `DELETE ${KEYS}/<key>,<id>`, none, { own: 'KEY_NOT_FOUND' }],
  ]),
  ...probes(parents, [
    ['createTenant', 'tenantParent', `POST ${TENANTS}`, '{"tenantName":"probe","tenantParent":"<id>"}'],
    [
      'updateTenant',
      'tenantParent',
      `PUT ${TENANTS}`,
      '{"id":"<tenant>","tenantName":"probe","tenantParent":"<id>"}',
    ],
    ['patchTenant', 'tenantParent', `PATCH ${TENANTS}/<tenant>`, '{"tenantParent":"<id>"}'],
    ['restoreTenant', 'tenantParent', `POST ${TENANTS}/<gone tenant>/restore`, '{"tenantParent":"<id>"}'],
  ]),
  ...probes({ ...parents, unknown: 'EMPTY', below: 'EMPTY', above: 'OK', text: 'INVALID_INPUT' }, [
    ['listTenants', 'tenantParent', `GET ${TENANTS}?limit=500&tenantParent=<id>`],
    [
      'listTenants',
      'tenantId',
      `GET ${TENANTS}?limit=500&tenantId=<id>`,
      none,
      { below: 'OK', above: 'EMPTY' },
    ],
  ]),
  ...probes({ ...tenants, thing: 'tenantMark', unknown: 'EMPTY', own: 'OK' }, [
    ['listTenants', 'tenantName', `GET ${TENANTS}?limit=500&tenantName=<id>`],
  ]),
  ...probes({ ...tenants, thing: 'tenantCursor', unknown: 'INVALID_INPUT', own: 'OK' }, [
    ['listTenants', 'cursor', `GET ${TENANTS}?limit=1&cursor=<id>`],
  ]),
  ...probes(tenants, [
    ['getTenant', 'path', `GET ${TENANTS}/<id>`, none, { own: 'OK' }],
    ['updateTenant', 'id', `PUT ${TENANTS}`, '{"id":"<id>","tenantName":"probe"}'],
    [
      'updateTenant',
      'id, with a tag',
      `PUT ${TENANTS}`,
      '{"id":"<id>","tenantName":"probe"}',
      { headers: ANY },
    ],
    ['patchTenant', 'path', `PATCH ${TENANTS}/<id>`, '{"tenantName":"probe"}'],
    ['deleteTenant', 'path', `DELETE ${TENANTS}/<id>`],
    ['getTenantHistory', 'path', `GET ${TENANTS}/<id>/history`, none, { own: 'OK', deleted: 'OK' }],
  ]),
  ...probes({ ...tenants, thing: 'tenantCursor', unknown: 'INVALID_INPUT', own: 'INVALID_INPUT' }, [
    ['getTenantHistory', 'cursor', `GET ${TENANTS}/<tenant>/history?cursor=<id>`],
  ]),
  ...probes({ ...tenants, own: 'NOT_DELETED', below: 'NOT_DELETED', deleted: NO_PARENT }, [
    ['restoreTenant', 'path', `POST ${TENANTS}/<id>/restore`, '{"tenantParent":"7654321"}'],
  ]),
  ...probes({ thing: 'hook', needs: 'manager', unknown: 'WEBHOOK_NOT_FOUND', own: 'OK' }, [
    ['getWebhook', 'path', `GET ${HOOKS}/<id>`],
    ['listDeliveries', 'path', `GET ${HOOKS}/<id>/deliveries`],
    ['pingWebhook', 'path', `POST ${HOOKS}/<id>/ping`],
    ['rotateWebhookSecret', 'path', `POST ${HOOKS}/<id>/rotate`],
    ['patchWebhook', 'path', `PATCH ${HOOKS}/<id>`, '{"status":"1"}'],
    [
      'resendMessage',
      'path',
      `POST ${HOOKS}/<id>/deliveries/msg_000000_1_0_<id>/resend`,
      none,
      { own: 'MESSAGE_NOT_FOUND' },
    ],
    ['updateWebhook', 'webhookId', `PUT ${HOOKS}`, `{"webhookId":<num>,${HOOK}}`],
    ['deleteWebhook', 'path', `DELETE ${HOOKS}/<id>`],
  ]),
  // A webhook belongs to the tenant of the caller, whatever else is named.
  ...probes({ thing: 'code', needs: 'manager', own: 'OK', ...allSay('OK') }, [
    ['createWebhook', 'an unknown field', `POST ${HOOKS}`, `{"tenantId":"<id>",${HOOK}}`],
    ['listWebhooks', 'an unknown parameter', `GET ${HOOKS}?tenantId=<id>`],
  ]),
  ...probes({ thing: 'reservation', needs: 'manager', unknown: 'RESERVATION_NOT_FOUND', own: 'OK' }, [
    ['commitReservation', 'key', `POST ${QUOTAS}/riskReport/reservations/<id>/commit`],
    ['releaseReservation', 'key', `DELETE ${QUOTAS}/riskReport/reservations/<id>`],
  ]),
  // The same key in two tenants is two keys.
  ...probes({ thing: 'spent', needs: 'manager', unknown: 'OK', own: 'OK' }, [
    ['useQuota', 'key', `POST ${QUOTAS}/merchant/use`, '{"key":"<id>"}'],
    [
      'reserveQuota',
      'key',
      `POST ${QUOTAS}/chainReport/reservations`,
      '{"key":"<id>","amount":1,"seconds":600}',
      { own: 'QUOTA_KEY_REUSED' },
    ],
    [
      'refundQuota',
      'ofKey',
      `POST ${QUOTAS}/riskReport/refund`,
      '{"ofKey":"<id>","key":"refund <id>"}',
      { unknown: 'QUOTA_KEY_NOT_FOUND' },
    ],
  ]),
  ...probes({ thing: 'entryCursor', needs: 'manager', unknown: 'INVALID_INPUT', own: 'OK' }, [
    ['listQuotaEntries', 'cursor', `GET ${QUOTAS}/riskReport/entries?limit=1&cursor=<id>`],
  ]),
  ...probes({ ...tenants, own: 'OK' }, [
    ['listQuotasOfTenant', 'path', `GET ${QUOTAS}/<id>`],
    ['getEntitlementOfTenant', 'path', `GET ${ENTITLEMENTS}/<id>`],
    [
      'getEntitlementOfTenant',
      'path, with a tag',
      `GET ${ENTITLEMENTS}/<id>`,
      none,
      { headers: { 'if-none-match': '"x"' } },
    ],
  ]),
  // Only the caller's own tenant spends, whatever else is named.
  ...probes({ thing: 'code', needs: 'manager', own: 'OK', ...allSay('OK') }, [
    ['useQuota', 'an unknown field', `POST ${QUOTAS}/riskReport/use`, '{"tenantId":"<id>","key":"<name>"}'],
    ['listQuotaEntries', 'an unknown parameter', `GET ${QUOTAS}/riskReport/entries?tenantId=<id>`],
  ]),
  ...probes({ thing: 'code', needs: 'reader', own: 'OK', ...allSay('OK') }, [
    ['listQuotas', 'an unknown parameter', `GET ${QUOTAS}?tenantId=<id>`],
    ['getEntitlement', 'an unknown parameter', `GET ${ENTITLEMENTS}?tenantId=<id>`],
  ]),
  // They take no id but that of a token; what they tell must be the caller's own all the same.
  ...probes({ thing: 'mark', needs: 'reader', unknown: 'OK', own: 'OK' }, [
    ['getMe', 'an unknown parameter', 'GET /auth/me?tenantId=<id>'],
  ]),
  ...probes({ thing: 'code', needs: 'nothing', own: 'BAD_CREDENTIALS', ...allSay('BAD_CREDENTIALS') }, [
    [
      'login',
      'tenantId',
      'POST /auth/login',
      '{"tenantId":"<id>","username":"nobody","password":"wrong-password"}',
    ],
  ]),
];

/** The same key in two tenants is two keys. */
function keyProbe(): Probe {
  const send: Send = (api, id) => api.post(DEPTS, { deptName: 'once' }, { 'idempotency-key': id });
  return {
    ...writes,
    thing: 'key',
    unknown: 'OK',
    operation: 'createDept',
    position: 'Idempotency-Key',
    send,
  };
}
