import { num, type Probe } from './probe';

const PATH = '/system/dept-api';
const ANY = { 'if-match': '*' };
const FIRST = { 'if-match': '"1"' };

const reads = { thing: 'dept', needs: 'reader', unknown: 'DEPT_NOT_FOUND', own: 'OK' } as const;
const writes = { thing: 'dept', needs: 'manager', unknown: 'DEPT_NOT_FOUND', own: 'OK' } as const;
const moves = { ...writes, unknown: 'PARENT_NOT_FOUND' } as const;
/** No tenant but the caller's own can be named, known or not. */
const names = {
  thing: 'code',
  needs: 'manager',
  unknown: 'TENANT_MISMATCH',
  own: 'OK',
  below: 'TENANT_MISMATCH',
} as const;
const codes = { ...names, text: 'TENANT_MISMATCH', huge: 'TENANT_MISMATCH' } as const;
const searches = { thing: 'mark', needs: 'reader', unknown: 'EMPTY', own: 'OK' } as const;

export const DEPT_PROBES: readonly Probe[] = [
  { ...reads, operation: 'getDept', position: 'path', send: (api, id) => api.get(`${PATH}/${id}`) },
  {
    ...reads,
    operation: 'getDept',
    position: 'path, with a tag',
    send: (api, id) => api.get(`${PATH}/${id}`, { 'if-none-match': '"x"' }),
  },
  {
    ...reads,
    operation: 'getDeptAncestors',
    position: 'path',
    send: (api, id) => api.get(`${PATH}/${id}/ancestors`),
  },
  {
    ...reads,
    operation: 'listDepts',
    position: 'ancestorId',
    send: (api, id) => api.get(`${PATH}?ancestorId=${id}`),
  },
  {
    ...reads,
    operation: 'listDepts',
    position: 'parentId',
    unknown: 'EMPTY',
    own: 'EMPTY',
    send: (api, id) => api.get(`${PATH}?parentId=${id}`),
  },
  {
    ...reads,
    operation: 'listDepts',
    position: 'ids',
    unknown: 'EMPTY',
    send: (api, id) => api.get(`${PATH}?ids=${id}`),
  },
  {
    ...reads,
    operation: 'listDepts',
    position: 'ids, among own',
    unknown: 'OK',
    send: async (api, id, own) => api.get(`${PATH}?ids=${await own.dept()},${id}`),
  },
  {
    ...searches,
    operation: 'listDepts',
    position: 'deptName',
    send: (api, id) => api.get(`${PATH}?limit=500&deptName=${id}`),
  },
  {
    ...searches,
    operation: 'listDepts',
    position: 'leader',
    send: (api, id) => api.get(`${PATH}?limit=500&leader=${id}%20leader`),
  },
  {
    ...searches,
    thing: 'deptCursor',
    unknown: 'INVALID_INPUT',
    operation: 'listDepts',
    position: 'cursor',
    send: (api, id) => api.get(`${PATH}?limit=1&cursor=${id}`),
  },
  {
    ...reads,
    operation: 'getDeptTree',
    position: 'rootId',
    send: (api, id) => api.get(`${PATH}/tree?rootId=${id}`),
  },
  {
    ...searches,
    operation: 'getDeptTree',
    position: 'deptName',
    send: (api, id) => api.get(`${PATH}/tree?deptName=${id}`),
  },
  {
    ...searches,
    unknown: 'OK',
    operation: 'exportDepts',
    position: 'an unknown parameter',
    send: (api, id) => api.get(`${PATH}/export?tenantId=${id}`),
  },
  {
    ...moves,
    operation: 'createDept',
    position: 'parentId',
    send: (api, id) => api.post(PATH, { parentId: num(id), deptName: 'probe' }),
  },
  {
    ...codes,
    operation: 'createDept',
    position: 'tenantId',
    send: (api, id) => api.post(PATH, { tenantId: id }),
  },
  {
    ...writes,
    thing: 'key',
    unknown: 'OK',
    operation: 'createDept',
    position: 'Idempotency-Key',
    send: (api, id) => api.post(PATH, { deptName: 'once' }, { 'idempotency-key': id }),
  },
  {
    ...writes,
    operation: 'updateDept',
    position: 'deptId',
    send: (api, id) => api.put(PATH, { deptId: num(id), deptName: 'probe' }),
  },
  {
    ...writes,
    own: 'STALE',
    operation: 'updateDept',
    position: 'deptId, with a tag',
    send: (api, id) => api.put(PATH, { deptId: num(id), deptName: 'probe' }, FIRST),
  },
  {
    ...writes,
    operation: 'updateDept',
    position: 'deptId, to an own parent',
    send: async (api, id, own) => api.put(PATH, { deptId: num(id), parentId: await own.dept() }),
  },
  {
    ...moves,
    operation: 'updateDept',
    position: 'parentId',
    send: async (api, id, own) => api.put(PATH, { deptId: await own.dept(), parentId: num(id) }),
  },
  {
    ...codes,
    operation: 'updateDept',
    position: 'tenantId',
    send: async (api, id, own) => api.put(PATH, { deptId: await own.dept(), tenantId: id }),
  },
  {
    ...writes,
    operation: 'patchDept',
    position: 'path',
    send: (api, id) => api.patch(`${PATH}/${id}`, { leader: 'probe' }),
  },
  {
    ...writes,
    operation: 'patchDept',
    position: 'path, with a tag',
    send: (api, id) => api.patch(`${PATH}/${id}`, { leader: 'probe' }, ANY),
  },
  {
    ...moves,
    operation: 'patchDept',
    position: 'parentId',
    send: async (api, id, own) => api.patch(`${PATH}/${await own.dept()}`, { parentId: num(id) }),
  },
  {
    ...writes,
    operation: 'orderDepts',
    position: 'deptIds',
    send: (api, id) => api.put(`${PATH}/order`, { deptIds: [num(id)] }),
  },
  {
    ...writes,
    operation: 'orderDepts',
    position: 'deptIds, among own',
    send: async (api, id, own) => api.put(`${PATH}/order`, { deptIds: [await own.dept(), num(id)] }),
  },
  {
    ...moves,
    own: 'DEPT_NOT_A_CHILD',
    operation: 'orderDepts',
    position: 'parentId',
    send: async (api, id, own) =>
      api.put(`${PATH}/order`, { parentId: num(id), deptIds: [await own.dept()] }),
  },
  { ...writes, operation: 'deleteDepts', position: 'path', send: (api, id) => api.delete(`${PATH}/${id}`) },
  {
    ...writes,
    own: 'STALE',
    operation: 'deleteDepts',
    position: 'path, with a tag',
    send: (api, id) => api.delete(`${PATH}/${id}`, FIRST),
  },
  {
    ...writes,
    operation: 'deleteDepts',
    position: 'path, among own',
    send: async (api, id, own) => api.delete(`${PATH}/${await own.dept()},${id}`),
  },
  {
    ...searches,
    needs: 'manager',
    unknown: 'OK',
    operation: 'importDepts',
    position: 'path',
    send: (api, id) =>
      api.post(`${PATH}/import?dryRun=true`, `path,leader\r\n${id} live,x\r\n`, {
        'content-type': 'text/csv',
      }),
  },
  {
    ...writes,
    unknown: 'OK',
    text: 'OK',
    huge: 'OK',
    operation: 'importDepts',
    position: 'columns of others',
    send: (api, id) =>
      api.post(
        `${PATH}/import`,
        `${JSON.stringify({ path: 'probed', deptId: num(id), parentId: num(id) })}\n`,
        {
          'content-type': 'application/x-ndjson',
        },
      ),
  },
];
