import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid } from '../support/refusals';
import { deptRow } from '../support/seeds';
import { recordQueries } from '../support/query-recorder';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const WHOLE = { deptName: '研发部', orderNum: 3, leader: '张三', phone: '1', email: 'a@b.cn', status: '0' };

describe('changing a part of a department', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeEach(async () => ({ api } = await freshTenant(service)));

  const read = async (deptId: number) => (await api.get(`${PATH}/${deptId}`)).body.data;

  it('a patch of a department leaves alone what it does not name, and resets what it sets to null', async () => {
    const parentId = await aDept(api);
    const deptId = await aDept(api, { ...WHOLE, parentId });
    const answer = await api.patch(`${PATH}/${deptId}`, { leader: '李四', orderNum: null, email: null });
    expect([answer.status, answer.body.data]).toEqual([200, null]);
    expect(await read(deptId)).toMatchObject({
      ...WHOLE,
      parentId,
      leader: '李四',
      orderNum: 0,
      email: null,
    });
    await api.patch(`${PATH}/${deptId}`, {
      deptName: null,
      leader: null,
      phone: null,
      status: null,
      parentId: null,
    });
    expect(await read(deptId)).toMatchObject({
      deptName: '',
      leader: null,
      phone: null,
      status: '0',
      parentId,
    });
    expect(await read(deptId)).toMatchObject({ updateBy: 'tester' });
  });

  it('a patch of a department takes the id from the path alone, as application/json or as a merge patch', async () => {
    const deptId = await aDept(api, WHOLE);
    const type = { 'content-type': 'application/merge-patch+json' };
    expect((await api.patch(PATH, { deptId, leader: 'a' })).refusal.reason).toBe('ROUTE_NOT_FOUND');
    expect((await api.patch(`${PATH}/${deptId}`, { leader: 'b' }, type)).status).toBe(200);
    expect(await read(deptId)).toMatchObject({ ...WHOLE, leader: 'b' });
    expectInvalid(await api.patch(`${PATH}/${deptId}`, { deptId: deptId + 1, leader: 'c' }), 'deptId');
    expect((await api.patch(`${PATH}/${deptId}`, { deptId: String(deptId) })).status).toBe(200);
    expect((await api.put(PATH, { deptId }, type)).status).toBe(415);
  });

  it('a patch of a department has the rules of the whole replacement: moves, cycles, statuses, fields, tenants', async () => {
    const [top, other] = [await aDept(api, WHOLE), await aDept(api, { status: '1' })];
    const below = await aDept(api, { ...WHOLE, parentId: top });
    const patch = async (id: number, body: object) => {
      const { status, body: answer } = await api.patch(`${PATH}/${id}`, body);
      return [status, (answer.data as { reason: string } | null)?.reason];
    };
    const before = await deptRow(service.dataSource, below);
    expect(await patch(top, { parentId: below })).toEqual([409, 'DEPT_CYCLE']);
    expect(await patch(below, { parentId: other })).toEqual([409, 'PARENT_DISABLED']);
    expect(await patch(below, { parentId: 999_999 })).toEqual([404, 'PARENT_NOT_FOUND']);
    expect(await patch(999_999, { leader: 'x' })).toEqual([404, 'DEPT_NOT_FOUND']);
    expect(await patch(below, { status: '2' })).toEqual([400, 'INVALID_INPUT']);
    expect(await patch(below, { tenantId: '000000' })).toEqual([403, 'TENANT_MISMATCH']);
    expect(await deptRow(service.dataSource, below)).toEqual(before);
    expect(await patch(below, { parentId: 0 })).toEqual([200, undefined]);
    expect(await read(below)).toMatchObject({ ...WHOLE, parentId: 0, ancestors: '0' });
    for (const body of ['[]', 'null', '1'])
      expect((await api.patch(`${PATH}/${top}`, body)).status).toBe(400);
  });

  describe('the order of siblings', () => {
    const children = async (parentId: number) =>
      ((await api.get(`${PATH}?parentId=${parentId}`)).body.data as { rows: { deptId: number }[] }).rows.map(
        ({ deptId }) => deptId,
      );

    it('the order of all children is set at once, in one statement', async () => {
      const parentId = await aDept(api);
      const ids = [
        await aDept(api, { parentId }),
        await aDept(api, { parentId }),
        await aDept(api, { parentId }),
      ];
      const wanted = [ids[2]!, ids[0]!, ids[1]!];
      const queries = await recordQueries(service.dataSource, async () => {
        expect((await api.put(`${PATH}/order`, { parentId, deptIds: wanted })).status).toBe(200);
      });
      expect(queries.filter(({ sql }) => /^UPDATE .*tenantry_dept/.test(sql))).toHaveLength(1);
      expect(await children(parentId)).toEqual(wanted);
      expect(await read(wanted[0]!)).toMatchObject({ orderNum: 1, updateBy: 'tester' });
      expect((await api.put(`${PATH}/order`, { deptIds: [parentId] })).status).toBe(200);
    });

    it('an order is refused, and nothing changed, for departments that are not such children', async () => {
      const [parentId, other] = [await aDept(api), await aDept(api)];
      const child = await aDept(api, { parentId, orderNum: 7 });
      const order = async (body: object) => {
        const { status, refusal } = await api.put(`${PATH}/order`, body);
        return [status, refusal.reason, refusal.ids];
      };
      expect(await order({ parentId, deptIds: [child, other] })).toEqual([409, 'DEPT_NOT_A_CHILD', [other]]);
      expect(await order({ parentId: other, deptIds: [child] })).toEqual([409, 'DEPT_NOT_A_CHILD', [child]]);
      expect(await order({ parentId: 999_999, deptIds: [child] })).toEqual([
        404,
        'PARENT_NOT_FOUND',
        undefined,
      ]);
      expect(await order({ parentId, deptIds: [child, 999_999] })).toEqual([
        404,
        'DEPT_NOT_FOUND',
        [999_999],
      ]);
      for (const deptIds of [
        [],
        [child, child],
        ['x'],
        'x',
        undefined,
        Array.from({ length: 501 }, (_, n) => n),
      ]) {
        expect(await order({ parentId, deptIds })).toEqual([400, 'INVALID_INPUT', undefined]);
      }
      expect(await read(child)).toMatchObject({ orderNum: 7 });
    });
  });
});
