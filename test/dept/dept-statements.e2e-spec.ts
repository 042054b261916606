import { promisify } from 'node:util';
import type { Pool, PoolConnection } from 'mysql2';
import { IdempotentRequest } from '../../src/database/idempotent-request';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, type ApiClient } from '../../src/server/testing';
import { RequestContext } from '../../src/tenancy/request-context';
import { TenantryQuota } from '../../src/tenant/quota/quota.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { TenantBound } from '../../src/tenancy/tenant-bound';
import { raiseTreeVersion } from '../../src/journal/tree-lock';
import { recordQueries, type RecordedQuery } from '../support/query-recorder';
import { aTenantRow, life, deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { onInnodb, onMysql, onPostgres, onServer } from '../support/test-database';

const PATH = '/system/dept-api';
/** Which of the moves below must find its subtree by the index: of half the table, PostgreSQL reads all. */
const INDEXED = onPostgres ? 1 : 2;
const EXPLAIN = onMysql ? 'EXPLAIN FORMAT=TRADITIONAL' : onServer ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
const BEGIN = onServer ? 'START TRANSACTION' : 'BEGIN IMMEDIATE';

function gist(sql: string): string {
  const [, verb] = /^\s*(\w+)/.exec(sql) ?? [];
  // A SELECT may look into other tables before it comes to its own, which it calls `t`.
  const [, table] = /FROM \W?(tenantry_\w+)\W? t\b/.exec(sql) ?? /\b(tenantry_\w+)/.exec(sql) ?? [];
  return verb && table ? `${verb} ${table.replace('tenantry_', '')}` : sql;
}

describe('the statements of a write', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeAll(async () => {
    tenantId = await aTenantRow(service.dataSource);
    api = service.as({ tenantId });
  });

  async function queriesOf(
    work: () => Promise<{ readonly status: number }>,
    status = 200,
  ): Promise<RecordedQuery[]> {
    // What a request looks up about its caller is cached for the next five seconds.
    await api.get(`${PATH}?limit=1`);
    return recordQueries(service.dataSource, async () => {
      expect((await work()).status).toBe(status);
    });
  }

  async function statementsOf(work: () => Promise<{ readonly status: number }>): Promise<string[]> {
    return (await queriesOf(work)).map(({ sql }) => gist(sql));
  }

  /** Rows put into the database directly. */
  async function childrenOf(parentId: number, count: number): Promise<void> {
    await deptRows(service.dataSource, count, (orderNum) => ({
      ...{ tenantId, parentId, ancestors: `0,${parentId}`, depth: 2, orderNum },
    }));
  }

  it('a new department takes seven statements', async () => {
    const parentId = await aDept(api);
    const writes = ['INSERT dept', 'INSERT change', 'INSERT unit', 'COMMIT'];
    const expected = [BEGIN, 'UPDATE tenant', 'SELECT dept', ...writes];
    expect(await statementsOf(() => api.post(PATH, { parentId, deptName: 'new' }))).toEqual(expected);
  });

  it('a page of a list with several filters takes two statements, and no look at how many rows each filter has', async () => {
    const parentId = await aDept(api);
    await aDept(api, { parentId, leader: 'ann', status: '1' });
    const filters = `parentId=${parentId}&leader=ann&status=1`;
    expect(await statementsOf(() => api.get(`${PATH}?${filters}`))).toEqual(['SELECT dept', 'SELECT dept']);
    expect(await statementsOf(() => api.get(`${PATH}?parentId=${parentId}`))).toEqual(['SELECT dept']);
  });

  it('a move of 5,000 takes as many statements as one of 1, and finds the subtree by its index', async () => {
    const target = await aDept(api);
    await childrenOf(target, 5000);
    const moves: RecordedQuery[][] = [];
    for (const count of [1, 10, 5000]) {
      const deptId = await aDept(api, { deptName: 'moved' });
      await childrenOf(deptId, count);
      if (onInnodb) await service.dataSource.query('ANALYZE TABLE tenantry_dept');
      const dto = { deptId, parentId: target, deptName: 'moved' };
      moves.push(await queriesOf(() => api.put(PATH, dto)));
    }
    const writes = ['UPDATE dept', 'UPDATE dept', 'INSERT change', 'INSERT unit', 'COMMIT'];
    const expected = [BEGIN, 'UPDATE tenant', 'SELECT dept', 'SELECT dept', 'SELECT dept', ...writes];
    for (const move of moves) expect(move.map(({ sql }) => gist(sql))).toEqual(expected);
    for (const part of ['SUBSTR(', 'MAX(']) {
      const [query] = moves[INDEXED]!.filter(({ sql }) => sql.includes(part));
      expect(await planOf(query!)).toMatch(/ix_dept_subtree/);
    }
  });

  async function planOf({ sql, parameters }: RecordedQuery): Promise<string> {
    return JSON.stringify(await service.dataSource.query(`${EXPLAIN} ${sql}`, parameters));
  }

  it('a deletion takes eight statements, of 500 as of one', async () => {
    const parentId = await aDept(api);
    await childrenOf(parentId, 501);
    const rows = await service.dataSource.manager.findBy(TenantryDept, { parentId });
    const [one, ...others] = rows.map(({ deptId }) => deptId);
    const checks = ['SELECT dept', 'SELECT account'];
    const writes = ['UPDATE dept', 'INSERT change', 'INSERT unit', 'COMMIT'];
    const expected = [BEGIN, 'UPDATE tenant', ...checks, ...writes];
    for (const ids of [[one], others])
      expect(await statementsOf(() => api.delete(`${PATH}/${ids.join(',')}`))).toEqual(expected);
    expect((await api.get(`${PATH}/${others[499]!}`)).status).toBe(404);
  });

  it('a use of a quota takes seven statements, its repetition six', async () => {
    const quota = { tenantId, kind: 'riskReport' };
    await service.dataSource.manager.update(TenantryQuota, quota, { total: 10 });
    await service.dataSource.manager.update(TenantryTenant, { tenantId }, { quota: { riskReport: 10 } });
    const use = () => api.post('/system/quota-api/riskReport/use', { key: 'a deed' });
    const checks = [BEGIN, 'UPDATE quota', 'SELECT quota'];
    const writes = ['UPDATE quota', 'INSERT quota_entry', 'INSERT unit', 'COMMIT'];
    const repeated = ['SELECT quota_entry', 'INSERT unit', 'COMMIT'];
    expect(await statementsOf(use)).toEqual([...checks, ...writes]);
    expect(await statementsOf(use)).toEqual([...checks, ...repeated]);
  });

  describe('prepared statements', () => {
    const sent = { deptName: '研发 🚀 d\'été "x"', orderNum: -1, leader: null, phone: '', email: 'a@b.cn' };

    const row = () => ({
      ...sent,
      ...life(),
      parentId: 0,
      ancestors: '0',
      depth: 1,
      updateTime: null,
      revision: 0,
    });

    function inUnit<T>(work: (depts: TenantBound<TenantryDept>) => Promise<T>): Promise<T> {
      const ctx = RequestContext.system(tenantId);
      return service.app.get(UnitOfWork, { strict: false }).run(
        tenantId,
        (unit) => raiseTreeVersion(unit, tenantId),
        ({ manager }) => work(new TenantBound(manager, TenantryDept, ctx)),
      );
    }

    it('prepared statements write and find exactly what TypeORM does', async () => {
      const createTime = new Date('2026-02-28T23:59:59.987Z');
      const { manager } = service.dataSource;
      const written = await inUnit((depts) => depts.insert({ ...row(), createTime }));
      const typeormRow = { ...row(), createTime, tenantId };
      await manager.insert(TenantryDept, typeormRow);
      // TypeORM leaves the id as it comes, on MySQL as text.
      const byTypeorm = Number((typeormRow as { deptId?: unknown }).deptId);
      const found = await inUnit((depts) => depts.findOne({ deptId: written }));
      expect(found).toBeInstanceOf(TenantryDept);
      expect(found).toMatchObject({ ...sent, tenantId });
      expect(found).toEqual(await manager.findOneBy(TenantryDept, { deptId: written }));
      const other = await inUnit((depts) => depts.findOne({ deptId: byTypeorm }));
      expect(other).toEqual(Object.assign(found!, { deptId: byTypeorm }));
    });
  });

  it('a unit of work that gives nothing is kept, and known again', async () => {
    const units = service.app.get(UnitOfWork, { strict: false });
    let runs = 0;
    const scope = { tenantId, subject: 'somebody', route: 'a test', key: 'nothing' };
    const run = (): Promise<undefined> =>
      units.run(
        tenantId,
        (unit) => raiseTreeVersion(unit, tenantId),
        () => {
          runs += 1;
          return Promise.resolve(undefined);
        },
        new IdempotentRequest(scope, ''),
      );
    await run();
    await run();
    expect(runs).toBe(1);
  });

  it('departments whose ids are listed are found by the key, not by walking the tenant', async () => {
    await deptRows(service.dataSource, 1200, (orderNum) => ({
      ...{ tenantId, parentId: 0, ancestors: '0', depth: 1, deptName: `found ${orderNum}`, orderNum },
    }));
    const { data } = (await api.get(`${PATH}?deptName=found&limit=200`)).body;
    const ids = (data as { rows: { deptId: number }[] }).rows.map(({ deptId }) => deptId).join(',');
    const queries = [
      ...(await queriesOf(() => api.get(`${PATH}?deptName=found&limit=500`))),
      ...(await queriesOf(() => api.get(`${PATH}?ids=${ids}`))),
      ...(await queriesOf(() => api.get(`${PATH}/tree?deptName=found`))),
      ...(await queriesOf(() => api.delete(`${PATH}/${ids}`))),
    ].filter(({ sql }) => /^SELECT .* FROM \S*tenantry_dept\W+t\b.*dept_id\W* IN \(/s.test(sql));
    expect(queries.length).toBeGreaterThan(5);
    // PostgreSQL chooses by its statistics.
    if (!onPostgres) for (const query of queries) expect(await planOf(query)).toMatch(/PRIMARY/);
  });

  if (onInnodb) {
    it('children are looked for by the one index that finds them, whatever the statistics are', async () => {
      // With a child, so that it is refused and still there: MySQL tells no plan for what it does not find.
      const parentId = await aDept(api);
      await aDept(api, { parentId });
      const queries = [
        ...(await queriesOf(() => api.get(`${PATH}?limit=20`))),
        ...(await queriesOf(() => api.delete(`${PATH}/${parentId}`), 409)),
        ...(await queriesOf(() => service.as().get('/system/tenant-api?limit=20'))),
      ].filter(({ sql }) => sql.includes('(SELECT 1 FROM'));
      expect(queries).toHaveLength(3);
      for (const { sql, parameters } of queries) {
        const plan = await service.dataSource.query<Record<string, string>[]>(
          `${EXPLAIN} ${sql}`,
          parameters,
        );
        const keys = plan.filter(({ id }) => Number(id) > 1).map(({ possible_keys }) => possible_keys);
        expect(keys).toEqual([expect.stringMatching(/^ix_(dept|tenant)_children$/)]);
      }
    });

    it('statements are sent as text when the server refuses to prepare them', async () => {
      const { pool } = service.dataSource.driver as unknown as { pool: Pool };
      const connection = await promisify(pool.getConnection.bind(pool))();
      let owner = connection as object;
      while (!Object.hasOwn(owner, 'execute')) owner = Object.getPrototypeOf(owner) as object;
      connection.release();
      const refuse = (_: string, __: unknown[], done: (error: Error) => void) => {
        done(Object.assign(new Error('no more statements'), { errno: 1461 }));
        // The pool waits for this one before it takes its connection back.
        return { once: (_event: string, end: () => void) => setImmediate(end) };
      };
      const refused = jest.spyOn(owner as PoolConnection, 'execute');
      refused.mockImplementation(refuse as unknown as PoolConnection['execute']);
      try {
        const parentId = await aDept(api, { deptName: '总公司' });
        const deptId = await aDept(api, { parentId });
        const { data } = (await api.get(`${PATH}/${deptId}`)).body;
        expect(data).toMatchObject({ parentId, ancestors: `0,${parentId}` });
        expect(refused).toHaveBeenCalled();
      } finally {
        refused.mockRestore();
      }
    });
  }
});
