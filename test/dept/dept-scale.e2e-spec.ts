import { DeptEntity } from '../../src/dept/dept.entity';
import { MAX_DEPTH } from '../../src/tree/tree-path';
import { aDept, type ApiClient } from '../../src/server/testing';
import { expectRefused } from '../support/refusals';
import { aTenantRow, bulkInsert, life } from '../support/seeds';
import { recordQueries, type RecordedQuery } from '../support/query-recorder';
import { ServiceUnderTest } from '../support/service-under-test';
import { onMariadb } from '../support/test-database';

const PATH = '/system/dept-api';

describe('department trees of any size', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => {
    tenantId = await aTenantRow(service.dataSource);
    api = service.as({ tenantId });
  });

  /** Rows put into the database directly: this is about what the service does with them. */
  async function childrenOf(parentId: number, count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, orderNum) => ({
      tenantId,
      parentId,
      ancestors: `0,${parentId}`,
      depth: 2,
      deptName: '',
      orderNum,
      ...life(),
    }));
    for (let start = 0; start < count; start += 1000) {
      await bulkInsert(service.dataSource, DeptEntity, rows.slice(start, start + 1000));
    }
  }

  async function chain(length: number): Promise<number[]> {
    const ids: number[] = [];
    for (let n = 0; n < length; n += 1) ids.push(await aDept(api, { parentId: ids.at(-1) ?? 0 }));
    return ids;
  }

  it('holds 10,000 departments under one parent, and moves them', async () => {
    const [parent, other] = [await aDept(api), await aDept(api)];
    await childrenOf(parent, 10_000);
    const added = await aDept(api, { parentId: parent });
    expect((await api.delete(`${PATH}/${parent}`)).refusal.reason).toBe('DEPT_HAS_CHILDREN');
    expect((await api.put(PATH, { deptId: parent, parentId: other })).status).toBe(200);
    const dept = (await api.get(`${PATH}/${added}`)).body.data;
    expect(dept).toMatchObject({ parentId: parent, ancestors: `0,${other},${parent}` });
  });

  it('holds a chain of 64 departments and refuses the 65th', async () => {
    const ids = await chain(MAX_DEPTH);
    const last = (await api.get(`${PATH}/${ids.at(-1)!}`)).body.data;
    expect(last).toMatchObject({ ancestors: [0, ...ids.slice(0, -1)].join(',') });
    const answer = await api.post(PATH, { parentId: ids.at(-1) });
    expectRefused(answer, 400, 'DEPT_TOO_DEEP');
    expect(answer.refusal.fields?.[0]?.field).toBe('parentId');
  });

  it('counts the height of a moved subtree against the limit', async () => {
    const tall = await chain(MAX_DEPTH - 2);
    const [low] = await chain(3);
    const answer = await api.put(PATH, { deptId: low, parentId: tall.at(-1) });
    expectRefused(answer, 400, 'DEPT_TOO_DEEP');
    expect((await api.put(PATH, { deptId: low, parentId: tall.at(-2) })).status).toBe(200);
  });

  it('fits the longest ids into the longest path', async () => {
    const first = 1_000_000_000_000_000;
    for (let n = 0; n < MAX_DEPTH; n += 1) {
      const above = Array.from({ length: n }, (_, index) => first + index);
      const row = {
        deptId: first + n,
        tenantId,
        parentId: above.at(-1) ?? 0,
        ancestors: [0, ...above].join(','),
        depth: n + 1,
      };
      await service.dataSource.manager.insert(DeptEntity, { ...row, deptName: '', orderNum: 0, ...life() });
    }
    const answer = await api.get(`${PATH}/${first + MAX_DEPTH - 1}`);
    expect((answer.body.data as DeptEntity).ancestors.split(',')).toHaveLength(MAX_DEPTH);
    await service.dataSource.manager.delete(DeptEntity, { tenantId });
  });

  it('moves a subtree of any size with the same statements, through the path index', async () => {
    const [small, large, other] = [await aDept(api), await aDept(api), await aDept(api)];
    await childrenOf(small, 1);
    await childrenOf(large, 5000);
    await childrenOf(other, 5000);
    if (onMariadb) await service.dataSource.query('ANALYZE TABLE tenantry_dept');
    const move = (deptId: number) =>
      recordQueries(service.dataSource, () => api.put(PATH, { deptId, parentId: other }));
    const [ofSmall, ofLarge] = [await move(small), await move(large)];
    expect(ofLarge.map(({ sql }) => sql.split(' ', 2).join(' '))).toEqual(
      ofSmall.map(({ sql }) => sql.split(' ', 2).join(' ')),
    );
    const subtree = ofLarge.filter(({ sql }) => sql.includes('SUBSTR('));
    expect(subtree).toHaveLength(1);
    expect(await planOf(subtree[0]!)).toMatch(/ix_dept_subtree/);
    const deepest = ofLarge.filter(({ sql }) => sql.includes('MAX('));
    expect(await planOf(deepest[0]!)).toMatch(/ix_dept_subtree/);
  });

  it('deletes 500 departments with at most eight statements', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 500; n += 1) ids.push(await aDept(api));
    const queries = await recordQueries(service.dataSource, () => api.delete(`${PATH}/${ids.join(',')}`));
    expect(queries.length).toBeLessThanOrEqual(8);
    expect((await api.get(`${PATH}/${ids[499]!}`)).status).toBe(404);
  });

  async function planOf({ sql, parameters }: RecordedQuery): Promise<string> {
    const rows: unknown = await service.dataSource.query(
      `EXPLAIN ${onMariadb ? '' : 'QUERY PLAN '}${sql}`,
      parameters,
    );
    return JSON.stringify(rows);
  }
});
