import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TenantryDept } from '../../src/dept/dept.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { aDept, aTenant } from '../../src/server/testing';
import { breakOnPurpose } from '../support/examined-databases';
import { runCli } from '../support/run-cli';
import { anAccount, aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { onPostgres } from '../support/test-database';

describe('the command line', () => {
  const service = ServiceUnderTest.use();

  const cli = (args: string[], input?: string) => runCli(service.database, args, input);

  const login = async (tenantId: string, username: string, password: string) =>
    (await service.anonymous.post('/auth/login', { tenantId, username, password })).status;

  it('user:add makes an account with a password of its own, which signs in', async () => {
    const tenantId = await aTenantRow(service.dataSource, { accountCount: 1 });
    const account = `--tenant ${tenantId} --user dora --roles tenant_admin`.split(' ');
    const { code, out } = await cli(['user:add', ...account]);
    expect(code).toBe(0);
    expect(await login(tenantId, 'dora', out.trim().split(/\s+/)[1]!)).toBe(200);
    const over = await cli(['user:add', '--tenant', tenantId, '--user', 'eve']);
    expect([over.code, over.out]).toEqual([1, '']);
    expect(over.err).toBe(
      `error: Account 'eve' of tenant '${tenantId}': The tenant has reached its account limit (ACCOUNT_LIMIT)\n`,
    );
  });

  it('tenant:list shows the tenants as a tree, with their state', async () => {
    const root = service.as({ roles: ['superadmin'] });
    const parent = await aTenant(root, { tenantName: 'parent of one' });
    await aTenant(root, { tenantName: 'only child', tenantParent: parent.tenantId, status: '1' });
    const { out } = await cli(['tenant:list']);
    expect(out).toMatch(/^000000 .* ACTIVE +平台$/m);
    expect(out).toMatch(/ACTIVE {9}parent of one\n\d{6} .* DISABLED {9}only child\n/);
  });

  it('adopt takes over departments from a table or from a file, and names those that break a rule', async () => {
    const { dataSource, database } = service;
    const [one, other] = [await aTenantRow(dataSource), await aTenantRow(dataSource)];
    const time = onPostgres ? 'timestamp' : 'datetime';
    await dataSource.query(
      `CREATE TABLE sys_dept (dept_id bigint PRIMARY KEY, pid bigint, ancestors varchar(50), dept_name varchar(30), order_num int,
         leader varchar(20), status char(1), del_flag char(1), create_by varchar(64), create_time ${time}, update_time ${time})`,
    );
    const rows = ["(7101, 7100, '0', 'child', 2, NULL, '1', '0', 'ry', '2020-05-17 09:30:00', NULL)"];
    rows.push(
      "(7100, 0, 'x', 'Head office', 1, 'Li', '0', '0', 'ry', '2020-05-17 09:30:00', '2021-01-01 00:00:00')",
    );
    rows.push("(7102, 7100, '0', 'gone', 1, NULL, '0', '2', 'ry', '2020-05-17 09:30:00', NULL)");
    await dataSource.query(`INSERT INTO sys_dept VALUES ${rows.join(', ')}`);
    const adopt = (...args: string[]) => cli(['adopt', ...args]);
    const fromTable = ['--tenant', one, '--table', 'sys_dept', '--map', 'parentId=pid'];

    expect(await adopt(...fromTable, '--where', 'dept_id <> 7100')).toMatchObject({
      code: 1,
      out:
        'wrong     department 7101: parentId is 7100, which is deleted or missing\n' +
        'Nothing was adopted: 1 problems found.\n',
    });
    const can = await adopt(...fromTable, '--dry-run');
    expect(can).toMatchObject({ code: 0, out: '2 departments can be adopted, 1 deleted ones left out.\n' });
    const were = await adopt(...fromTable);
    expect(were).toMatchObject({ code: 0, out: '2 departments were adopted, 1 deleted ones left out.\n' });
    const { data } = (await service.as({ tenantId: one }).get('/system/dept-api/7101')).body;
    expect(data).toMatchObject({ ancestors: '0,7100', orderNum: 2, status: '1', createBy: 'ry' });
    expect(data).toMatchObject({ createTime: '2020-05-17 09:30:00', updateTime: null });
    expect(await adopt(...fromTable)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^error: Tenant '\d+': The tenant has departments.*\(DEPT_TREE_NOT_EMPTY\)\n$/,
      ) as string,
    });

    const file = join(database.folder, 'depts.csv');
    const fromFile = ['--tenant', other, '--file', file];
    writeFileSync(file, 'dept_id,parent_id,dept_name\n7200,0,"a\n7201,7200,b\n');
    expect((await adopt(...fromFile)).out).toContain('wrong     line 2: it ');
    writeFileSync(file, 'dept_id,parent_id,dept_name,order_num\n7100,0,a,1\n7201,7100,b,x\n');
    expect((await adopt(...fromFile)).out.split('\n').slice(0, 2)).toEqual([
      'wrong     department 7201: orderNum must be an integer from -2147483648 to 2147483647',
      'wrong     department 7100: deptId is the id of a department that exists already',
    ]);
    writeFileSync(file, 'dept_id,parent_id,dept_name,order_num\n7201,7200,b,3\n7200,0,a,\n');
    expect((await adopt(...fromFile)).code).toBe(0);
    const tree = (await service.as({ tenantId: other }).get('/system/dept-api/tree')).body.data;
    expect(tree).toMatchObject({
      rows: [{ deptId: 7200, orderNum: 0, children: [{ deptId: 7201, orderNum: 3 }] }],
    });

    for (const [args, told] of [
      [['--tenant', '999999', '--table', 'sys_dept', '--map', 'parentId=pid'], "There is no tenant '999999'"],
      [['--table', 'no_table'], 'There is no table no_table'],
      [['--table', 'sys_dept', '--map', 'delFlag=deletedat'], "There is no column 'deletedat'. There are: "],
      [['--file', join(database.folder, 'no.csv')], 'no such file'],
    ] as const)
      expect(await adopt(...args)).toMatchObject({ code: 1, err: expect.stringContaining(told) as string });
    expect(await cli(['doctor'])).toMatchObject({ code: 0 });
  });

  it('doctor examines the database, repairs paths, and reports what it cannot repair', async () => {
    expect(await cli(['doctor'])).toMatchObject({ code: 0, out: 'The database is sound.\n' });
    await breakOnPurpose(service.database);
    const { manager } = service.dataSource;
    const tenantId = await aTenantRow(service.dataSource);
    const api = service.as({ tenantId });
    const top = await aDept(api);
    const child = await aDept(api, { parentId: top });
    await manager.update(TenantryDept, { deptId: child }, { ancestors: '0,5', depth: 9 });
    expect((await cli(['doctor'])).code).toBe(1);
    const repaired = await cli(['doctor', '--repair']);
    expect([repaired.code, repaired.out]).toEqual([
      0,
      expect.stringContaining(`department ${child}: its path should be 0,${top}`),
    ]);
    expect((await cli(['doctor'])).code).toBe(0);
    await manager.update(TenantryDept, { deptId: top }, { delFlag: '2' });
    await anAccount(service.dataSource, { tenantId, deptId: top });
    const later = new Date(Date.now() + 1000);
    await manager.update(TenantryTenant, { tenantId }, { accountCount: 0, updateTime: later });
    const broken = await cli(['doctor', '--repair']);
    expect(broken.code).toBe(1);
    expect(broken.out).toContain(`department ${child}: an ancestor is deleted or missing`);
    expect(broken.out).toMatch(/account \d+: its department is deleted or missing/);
    expect(broken.out).toContain(`note      tenant ${tenantId}: has more accounts than its limit`);
  });
});
