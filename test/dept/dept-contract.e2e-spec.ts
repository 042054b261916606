import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid, expectRefused } from '../support/refusals';
import { anAccount, deptRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const DEFAULTS = { deptName: '', orderNum: 0, leader: null, phone: null, email: null, status: '0' };
const DONE = { code: 200, msg: '操作成功', data: null };
const READ_KEYS =
  'ancestors createBy createTime delFlag deptId deptName email leader orderNum parentId phone status tenantId updateBy updateTime';

describe('departments', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service, { username: 'alice' })));

  const read = async (id: number) => (await api.get(`${PATH}/${id}`)).body.data as Record<string, unknown>;

  describe('creating a department', () => {
    it('a create answers null and names the new path in Location', async () => {
      const answer = await api.post(PATH, { deptName: '研发部' });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(DONE);
      expect(answer.headers.location).toMatch(/^\/system\/dept-api\/\d+$/);
      expect((await api.get(answer.headers.location!)).body.data).toMatchObject({ deptName: '研发部' });
    });

    it('a create gives every field of an empty body its default', async () => {
      const dept = await read(await aDept(api));
      expect(Object.keys(dept).sort().join(' ')).toBe(READ_KEYS);
      expect(dept).toMatchObject({
        ...{ ...DEFAULTS, parentId: 0, ancestors: '0', delFlag: '0', tenantId },
        ...{ createBy: 'alice', updateBy: '', updateTime: null },
      });
      expect(dept.createTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    });

    it('a create builds the path from the root down to the parent', async () => {
      const top = await aDept(api);
      const child = await aDept(api, { parentId: top });
      const grandchild = await aDept(api, { parentId: String(child) } as object);
      expect(await read(child)).toMatchObject({ parentId: top, ancestors: `0,${top}` });
      expect(await read(grandchild)).toMatchObject({ parentId: child, ancestors: `0,${top},${child}` });
    });

    it('a create ignores what only the service decides', async () => {
      const decided = { deptId: 7, ancestors: '0,7', delFlag: '2', createBy: 'mallory', constructor: 1 };
      const id = await aDept(api, decided as object);
      expect(id).not.toBe(7);
      expect(await read(id)).toMatchObject({ ancestors: '0', delFlag: '0', createBy: 'alice' });
    });

    it('a create refuses a parent that is unknown, deleted or of another tenant', async () => {
      const deleted = await aDept(api);
      await api.delete(`${PATH}/${deleted}`);
      const foreign = await aDept(service.as());
      for (const parentId of [999_999_999, deleted, foreign]) {
        expectRefused(await api.post(PATH, { parentId }), 404, 'PARENT_NOT_FOUND');
      }
    });

    it('a create refuses a disabled parent', async () => {
      const parentId = await aDept(api, { status: '1' });
      expectRefused(await api.post(PATH, { parentId }), 409, 'PARENT_DISABLED');
    });

    it('a create accepts its own tenant in the body and refuses another, writing nothing', async () => {
      expect((await api.post(PATH, { tenantId })).status).toBe(200);
      const before = await count();
      expectRefused(await api.post(PATH, { tenantId: '000000' }), 403, 'TENANT_MISMATCH');
      expect(await count()).toBe(before);
    });
  });

  describe('updating a department', () => {
    it('an update replaces everything and resets what was not sent, but not the parent', async () => {
      const parentId = await aDept(api);
      const full = { deptName: 'a', orderNum: 3, leader: 'b', phone: '138', email: 'a@b.cn', status: '1' };
      const deptId = await aDept(api, { parentId, ...full });
      const answer = await service.as({ tenantId, username: 'bob' }).put(PATH, { deptId });
      expect(answer.body).toEqual(DONE);
      expect(await read(deptId)).toMatchObject({
        ...{ ...DEFAULTS, parentId, ancestors: `0,${parentId}`, createBy: 'alice', updateBy: 'bob' },
        updateTime: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
      });
    });

    it('an update takes back what was read, unchanged', async () => {
      const full = { deptName: '财务部 💰', orderNum: -5, leader: '李四', phone: '021-1', email: '' };
      const deptId = await aDept(api, full);
      const before = await read(deptId);
      expect((await api.put(PATH, before)).status).toBe(200);
      expect({ ...(await read(deptId)), updateBy: '', updateTime: null }).toEqual(before);
    });

    it('an update moves a department with its whole subtree', async () => {
      const [a, b] = [await aDept(api), await aDept(api)];
      const child = await aDept(api, { parentId: a });
      const grandchild = await aDept(api, { parentId: child });
      expect((await api.put(PATH, { deptId: a, parentId: b })).status).toBe(200);
      expect(await read(a)).toMatchObject({ parentId: b, ancestors: `0,${b}` });
      expect(await read(child)).toMatchObject({ parentId: a, ancestors: `0,${b},${a}` });
      expect(await read(grandchild)).toMatchObject({ parentId: child, ancestors: `0,${b},${a},${child}` });
      expect((await api.put(PATH, { deptId: child, parentId: 0 })).status).toBe(200);
      expect(await read(grandchild)).toMatchObject({ ancestors: `0,${child}` });
    });

    it('refuses to make a department its own ancestor', async () => {
      const a = await aDept(api);
      const b = await aDept(api, { parentId: a });
      const c = await aDept(api, { parentId: b });
      for (const parentId of [a, b, c]) {
        expectRefused(await api.put(PATH, { deptId: a, parentId }), 409, 'DEPT_CYCLE');
      }
      expect(await read(a)).toMatchObject({ parentId: 0, ancestors: '0', updateTime: null });
    });

    it('an update refuses a missing deptId', async () => {
      for (const deptId of [undefined, null]) {
        const answer = await api.put(PATH, { deptId, deptName: 'x' });
        expectRefused(answer, 400, 'INVALID_INPUT');
        expect(answer.refusal.fields).toEqual([{ field: 'deptId', message: expect.any(String) as string }]);
      }
    });

    it('an update checks a parent only when it changes', async () => {
      const parentId = await aDept(api);
      const deptId = await aDept(api, { parentId });
      await api.put(PATH, { deptId: parentId, status: '1' });
      expect((await api.put(PATH, { deptId, parentId, deptName: 'stays' })).status).toBe(200);
      const other = await aDept(api);
      expectRefused(await api.put(PATH, { deptId: other, parentId }), 409, 'PARENT_DISABLED');
    });

    it('an update refuses another tenant in the body', async () => {
      const deptId = await aDept(api);
      const answer = await api.put(PATH, { deptId, tenantId: '000000', deptName: 'x' });
      expectRefused(answer, 403, 'TENANT_MISMATCH');
      expect(await read(deptId)).toMatchObject({ deptName: '' });
    });

    it('an update switches the status freely and touches no other department', async () => {
      const deptId = await aDept(api);
      const child = await aDept(api, { parentId: deptId });
      for (const status of ['1', '0', '1']) {
        expect((await api.put(PATH, { deptId, status })).status).toBe(200);
        expect(await read(deptId)).toMatchObject({ status });
        expect(await read(child)).toMatchObject({ status: '0', updateTime: null });
      }
    });
  });

  describe('deleting a department', () => {
    it('a deletion is soft: the row is kept and nothing finds it any more', async () => {
      const deptId = await aDept(api, { deptName: 'kept' });
      expect((await api.delete(`${PATH}/${deptId}`)).body).toEqual(DONE);
      expect(await deptRow(service.dataSource, deptId)).toMatchObject({ delFlag: '2', deptName: 'kept' });
      for (const answer of [
        await api.get(`${PATH}/${deptId}`),
        await api.put(PATH, { deptId }),
        await api.delete(`${PATH}/${deptId}`),
      ]) {
        expectRefused(answer, 404, 'DEPT_NOT_FOUND');
      }
    });

    it('a deletion is refused while there are child departments, and names them', async () => {
      const parent = await aDept(api);
      const child = await aDept(api, { parentId: parent });
      const free = await aDept(api);
      for (const ids of [`${parent}`, `${free},${parent},${child}`]) {
        expectRefused(await api.delete(`${PATH}/${ids}`), 409, 'DEPT_HAS_CHILDREN', { ids: [parent] });
      }
      expect(await read(free)).toMatchObject({ delFlag: '0' });
      const second = await aDept(api);
      await aDept(api, { parentId: second });
      await aDept(api, { parentId: second });
      const both = await api.delete(`${PATH}/${second},${parent}`);
      expect(both.refusal.ids).toEqual([parent, second]);
      await api.delete(`${PATH}/${child}`);
      expect((await api.delete(`${PATH}/${parent}`)).status).toBe(200);
    });

    it('a deletion is refused while there are users, and names the departments', async () => {
      const [occupied, free, other] = [await aDept(api), await aDept(api), await aDept(api)];
      await anAccount(service.dataSource, { tenantId, deptId: occupied });
      await anAccount(service.dataSource, { tenantId, deptId: other });
      const answer = await api.delete(`${PATH}/${other},${free},${occupied}`);
      expectRefused(answer, 409, 'DEPT_HAS_USERS', { ids: [occupied, other] });
      expect(await read(free)).toMatchObject({ delFlag: '0' });
    });

    it('a batch deletion is all or nothing, and collapses duplicates', async () => {
      const ids = [await aDept(api), await aDept(api), await aDept(api)];
      const missing = { ids: [888_888_888, 999_999_999] };
      const named = `${PATH}/999999999,${ids.join(',')},888888888`;
      expectRefused(await api.delete(named), 404, 'DEPT_NOT_FOUND', missing);
      const order = { deptIds: [999_999_999, ...ids, 888_888_888] };
      expectRefused(await api.put(`${PATH}/order`, order), 404, 'DEPT_NOT_FOUND', missing);
      expect(await read(ids[0]!)).toMatchObject({ delFlag: '0' });
      expect((await api.delete(`${PATH}/${[...ids, ...ids].join(',')}`)).status).toBe(200);
      for (const id of ids) expect((await api.get(`${PATH}/${id}`)).status).toBe(404);
    });

    it('a batch deletion takes at most 500 ids', async () => {
      const ids = Array.from({ length: 501 }, (_, index) => index + 1);
      expectInvalid(await api.delete(`${PATH}/${ids.join(',')}`), 'ids');
      expect((await api.delete(`${PATH}/${ids.slice(1).join(',')}`)).status).toBe(404);
    });
  });

  it('departments refuse ids that are no numbers', async () => {
    for (const id of 'abc 1.5 -1 1e3 0x10 9007199254740992 99999999999999999999 01 %20 1,'.split(' ')) {
      for (const answer of [await api.get(`${PATH}/${id}`), await api.delete(`${PATH}/${id}`)]) {
        expectRefused(answer, 400, 'INVALID_INPUT', { told: id });
      }
    }
    expect((await api.get(`${PATH}/9007199254740991`)).status).toBe(404);
    expect((await api.get(`${PATH}/0`)).status).toBe(404);
  });

  const count = () => service.dataSource.getRepository('TenantryDept').count();
});
