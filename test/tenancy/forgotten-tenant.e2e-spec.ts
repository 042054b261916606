import { Not, type EntityManager } from 'typeorm';
import { runPrepared } from '../../src/database/sql-statement';
import { ScopedTable, type Scope } from '../../src/database/scoped-table';
import type { Where } from '../../src/database/sql-statement';
import { TenantryDept } from '../../src/dept/dept.entity';
import { recordScopes, statementProblems } from '../support/isolation/statements';
import { ServiceUnderTest } from '../support/service-under-test';

describe('the search for statements that forget their tenant', () => {
  const service = ServiceUnderTest.use();
  const mine = new Set(['7']);

  async function problemsOf(work: (manager: EntityManager) => Promise<unknown>): Promise<string[]> {
    const { dataSource } = service;
    const runner = dataSource.createQueryRunner();
    try {
      const sent = await recordScopes(dataSource, () => work(runner.manager));
      return statementProblems(dataSource, sent, mine).map((problem) => problem.split(':')[0]!);
    } finally {
      await runner.release();
    }
  }
  const find = (where: Where<TenantryDept>, scope: Scope<TenantryDept> = {}) =>
    problemsOf((manager) => new ScopedTable(manager, TenantryDept, scope).find(where));
  const ofTenant = (tenantId: string) => ({ where: { tenantId } });

  it('lets statements of the tenant pass', async () => {
    expect(await find({ deptId: 1 }, ofTenant('7'))).toEqual([]);
    expect(await find([{ tenantId: '7', deptId: 1 }, { tenantId: '7' }])).toEqual([]);
    // Whatever the caller asks for: the scope narrows it.
    expect(await find({ tenantId: '8' }, ofTenant('7'))).toEqual([]);
  });

  it('stops at conditions that reach rows of others', async () => {
    const unbound = ['tenantry_dept without a tenant'];
    expect(await find({})).toEqual(unbound);
    expect(await find({ deptId: 1 })).toEqual(unbound);
    expect(await find({ tenantId: Not('7') })).toEqual(unbound);
    expect(await find([{ tenantId: '7' }, { deptId: 1 }])).toEqual(unbound);
    expect(await find([{ tenantId: '7' }, { tenantId: '8' }])).toEqual(['tenantry_dept of 7,8']);
    expect(await find({}, ofTenant('8'))).toEqual(['tenantry_dept of 8']);
  });

  it('stops at statements and sub-selects by hand that reach rows of others', async () => {
    const place = service.dataSource.options.type === 'postgres' ? '$1' : '?';
    const run = (sql: string, code = '7') =>
      problemsOf((manager) => runPrepared(manager, sql.replace('?', place), [code]));
    const count = 'SELECT COUNT(*) AS count FROM tenantry_dept';
    expect(await run(`${count} WHERE tenant_id = ?`)).toEqual([]);
    expect(await run(`${count} WHERE tenant_id = ?`, '8')).toEqual(['tenantry_dept of 8']);
    expect(await run(`${count} WHERE dept_name = ?`)).toEqual(['tenantry_dept without a tenant']);
    expect(await run(`${count} WHERE tenant_id = ? OR dept_id = 1`)).toEqual([
      'tenantry_dept without a tenant',
    ]);
    expect(await run(`${count} WHERE tenant_id = ? AND dept_id = 1 OR dept_id = 2`)).toEqual([
      'tenantry_dept without a tenant',
    ]);
    const counting = `(SELECT COUNT(*) FROM tenantry_account)`;
    expect(
      await problemsOf((manager) =>
        new ScopedTable(manager, TenantryDept, ofTenant('7')).pickWith(
          {},
          ['deptId'],
          `${counting} AS others`,
        ),
      ),
    ).toEqual(['tenantry_dept is reached, too']);
  });
});
