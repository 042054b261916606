import { DeptEntity } from '../../src/dept/dept.entity';
import { MAX_DEPTH } from '../../src/database/tree-path';
import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectRefused } from '../support/refusals';
import { deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

describe('department trees of any size', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  async function chain(length: number): Promise<number[]> {
    const ids: number[] = [];
    for (let n = 0; n < length; n += 1) ids.push(await aDept(api, { parentId: ids.at(-1) ?? 0 }));
    return ids;
  }

  it('a parent holds 10,000 departments, and moves with them', async () => {
    const [parent, other] = [await aDept(api), await aDept(api)];
    await deptRows(service.dataSource, 10_000, (orderNum) => ({
      ...{ tenantId, parentId: parent, ancestors: `0,${parent}`, depth: 2, orderNum },
    }));
    const added = await aDept(api, { parentId: parent });
    expect((await api.delete(`${PATH}/${parent}`)).refusal.reason).toBe('DEPT_HAS_CHILDREN');
    expect((await api.put(PATH, { deptId: parent, parentId: other })).status).toBe(200);
    const dept = (await api.get(`${PATH}/${added}`)).body.data;
    expect(dept).toMatchObject({ parentId: parent, ancestors: `0,${other},${parent}` });
  });

  it('a chain of 64 departments is held, and the 65th refused', async () => {
    const ids = await chain(MAX_DEPTH);
    const last = (await api.get(`${PATH}/${ids.at(-1)!}`)).body.data;
    expect(last).toMatchObject({ ancestors: [0, ...ids.slice(0, -1)].join(',') });
    const answer = await api.post(PATH, { parentId: ids.at(-1) });
    expectRefused(answer, 400, 'DEPT_TOO_DEEP');
    expect(answer.refusal.fields?.[0]?.field).toBe('parentId');
  });

  it('the height of a moved subtree counts against the limit of depth', async () => {
    const tall = await chain(MAX_DEPTH - 2);
    const [low] = await chain(3);
    expectRefused(await api.put(PATH, { deptId: low, parentId: tall.at(-1) }), 400, 'DEPT_TOO_DEEP');
    expect((await api.put(PATH, { deptId: low, parentId: tall.at(-2) })).status).toBe(200);
  });

  it('the longest ids fit into the longest path', async () => {
    const first = 1_000_000_000_000_000;
    await deptRows(service.dataSource, MAX_DEPTH, (n) => {
      const above = Array.from({ length: n }, (_, index) => first + index);
      const path = { parentId: above.at(-1) ?? 0, ancestors: [0, ...above].join(','), depth: n + 1 };
      return { deptId: first + n, tenantId, ...path };
    });
    const answer = await api.get(`${PATH}/${first + MAX_DEPTH - 1}`);
    expect((answer.body.data as DeptEntity).ancestors.split(',')).toHaveLength(MAX_DEPTH);
    await service.dataSource.manager.delete(DeptEntity, { tenantId });
  });
});
