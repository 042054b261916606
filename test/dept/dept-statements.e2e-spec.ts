import type { Pool, PoolConnection } from 'mysql2';
import { IdempotentRequest } from '../../src/database/idempotent-request';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { DeptEntity } from '../../src/dept/dept.entity';
import { DeptService } from '../../src/dept/dept.service';
import { aDept, type ApiClient } from '../../src/server/testing';
import { RequestContext } from '../../src/tenancy/request-context';
import { TenantBound } from '../../src/tenancy/tenant-bound';
import { raiseTreeVersion } from '../../src/tenancy/tree-version';
import { recordQueries } from '../support/query-recorder';
import { aTenantRow, bulkInsert, deptRow, life } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { onMariadb } from '../support/test-database';

const PATH = '/system/dept-api';
const BEGIN = onMariadb ? 'START TRANSACTION' : 'BEGIN IMMEDIATE';

/** What a statement does, and to which table. */
function gist(sql: string): string {
  const [, verb, table] = /^\s*(\w+)\b.*?\b(tenantry_\w+)/s.exec(sql) ?? [];
  return verb && table ? `${verb} ${table.replace('tenantry_', '')}` : sql;
}

describe('the statements of a write', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeAll(async () => {
    tenantId = await aTenantRow(service.dataSource);
    api = service.as({ tenantId });
    // The first request of a process also asks what later ones remember.
    await aDept(api);
  });

  async function statementsOf(work: () => Promise<{ readonly status: number }>): Promise<string[]> {
    const queries = await recordQueries(service.dataSource, async () => {
      expect((await work()).status).toBe(200);
    });
    return queries.map(({ sql }) => gist(sql));
  }

  async function childrenOf(parentId: number, count: number): Promise<void> {
    const row = { tenantId, parentId, ancestors: `0,${parentId}`, depth: 2, deptName: '', ...life() };
    const rows = Array.from({ length: count }, (_, orderNum) => ({ ...row, orderNum }));
    await bulkInsert(service.dataSource, DeptEntity, rows);
  }

  it('are six for a new department', async () => {
    const parentId = await aDept(api);
    expect(await statementsOf(() => api.post(PATH, { parentId, deptName: 'new' }))).toEqual([
      BEGIN,
      'UPDATE tenant',
      'SELECT dept',
      'INSERT dept',
      'INSERT unit',
      'COMMIT',
    ]);
  });

  it('are as many for a move of 1,000 as of 1', async () => {
    const target = await aDept(api);
    const moves: string[][] = [];
    for (const count of [1, 10, 1000]) {
      const deptId = await aDept(api, { deptName: 'moved' });
      await childrenOf(deptId, count);
      const dto = { deptId, parentId: target, deptName: 'moved' };
      moves.push(await statementsOf(() => api.put(PATH, dto)));
    }
    const [one, ...others] = moves;
    expect(one).toEqual([
      BEGIN,
      'UPDATE tenant',
      'SELECT dept',
      'SELECT dept',
      'SELECT dept',
      'UPDATE dept',
      'UPDATE dept',
      'UPDATE dept',
      'INSERT unit',
      'COMMIT',
    ]);
    for (const other of others) expect(other).toEqual(one);
  });

  it('are seven for a deletion of 500', async () => {
    const parentId = await aDept(api);
    await childrenOf(parentId, 500);
    const rows = await service.dataSource.manager.findBy(DeptEntity, { parentId });
    const ids = rows.map(({ deptId }) => deptId);
    expect(await statementsOf(() => api.delete(`${PATH}/${ids.join(',')}`))).toEqual([
      BEGIN,
      'UPDATE tenant',
      'SELECT dept',
      'SELECT account',
      'UPDATE dept',
      'INSERT unit',
      'COMMIT',
    ]);
  });

  describe('that are prepared', () => {
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

    function inUnit<T>(work: (depts: TenantBound<DeptEntity>) => Promise<T>): Promise<T> {
      const ctx = RequestContext.system(tenantId);
      return service.app.get(UnitOfWork, { strict: false }).run(
        tenantId,
        (manager) => raiseTreeVersion(manager, tenantId),
        (manager) => work(new TenantBound(manager, DeptEntity, ctx)),
      );
    }

    /** A row that was written in one way, and found in each. */
    function writeAndFind(write: 'insert' | 'insertRow'): Promise<(DeptEntity | null)[]> {
      const createTime = new Date('2026-02-28T23:59:59.987Z');
      return inUnit(async (depts) => {
        const deptId = await depts[write]({ ...row(), createTime });
        return [await depts.findRow({ deptId }), await depts.findOne({ deptId })];
      });
    }

    it('write and find exactly what TypeORM does', async () => {
      const [found, plain] = await writeAndFind('insertRow');
      expect(found).toBeInstanceOf(DeptEntity);
      expect(found).toMatchObject({ ...sent, tenantId });
      expect(found).toEqual(plain);
      const others = await writeAndFind('insert');
      for (const other of others) expect(other).toEqual(Object.assign(found!, { deptId: other?.deptId }));
    });

    it('run through TypeORM where somebody wants to know how long they take', async () => {
      const options = service.dataSource.options as { maxQueryExecutionTime?: number };
      options.maxQueryExecutionTime = 60_000;
      const [found, plain] = await writeAndFind('insertRow');
      delete options.maxQueryExecutionTime;
      expect(found).toMatchObject({ ...sent, tenantId });
      expect(found).toEqual(plain);
    });

    it('find nothing of another tenant, and write nothing into it', async () => {
      const foreign = await aTenantRow(service.dataSource);
      const deptId = await aDept(service.as({ tenantId: foreign }));
      expect(await inUnit((depts) => depts.findRow({ deptId, tenantId: foreign }))).toBeNull();
      const added = await inUnit((depts) => depts.insertRow({ ...row(), tenantId: foreign }));
      expect(await deptRow(service.dataSource, added)).toMatchObject({ tenantId });
    });
  });

  it('gives a department to a host that has its id as text, and while the clock is held', async () => {
    const deptId = await aDept(api);
    const depts = service.app.get(DeptService, { strict: false });
    const ctx = RequestContext.system(tenantId);
    expect(await depts.get(ctx, String(deptId) as unknown as number)).toMatchObject({ deptId });
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setTimeout', 'clearTimeout'] });
    try {
      expect(await depts.get(ctx, deptId)).toMatchObject({ deptId });
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps a unit that gives nothing, and knows it again', async () => {
    const units = service.app.get(UnitOfWork, { strict: false });
    let runs = 0;
    const scope = { tenantId, subject: 'somebody', route: 'a test', key: 'nothing' };
    const run = (): Promise<undefined> =>
      units.run(
        tenantId,
        (manager) => raiseTreeVersion(manager, tenantId),
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

  if (onMariadb) {
    it.each([1461, 1243, 1615])(
      'are sent as text when the server refuses to prepare them (%i)',
      async (errno) => {
        const { pool } = service.dataSource.driver as unknown as { pool: Pool };
        const connection = await new Promise<PoolConnection>((resolve, reject) => {
          pool.getConnection((error, got) => {
            if (error) reject(error);
            else resolve(got);
          });
        });
        let owner = connection as object;
        while (!Object.hasOwn(owner, 'execute')) owner = Object.getPrototypeOf(owner) as object;
        connection.release();
        const refused = jest.spyOn(owner as PoolConnection, 'execute').mockImplementation(((
          _: string,
          __: unknown[],
          done: (error: Error) => void,
        ) => {
          done(Object.assign(new Error('no more statements'), { errno }));
          // The pool waits for this one before it takes its connection back.
          return { once: (_event: string, end: () => void) => setImmediate(end) };
        }) as unknown as PoolConnection['execute']);
        try {
          const parentId = await aDept(api, { deptName: '总公司' });
          const deptId = await aDept(api, { parentId });
          expect((await api.get(`${PATH}/${deptId}`)).body.data).toMatchObject({
            parentId,
            ancestors: `0,${parentId}`,
          });
          expect(refused).toHaveBeenCalled();
        } finally {
          refused.mockRestore();
        }
      },
    );
  }
});
