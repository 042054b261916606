import type { DataSource } from 'typeorm';
import { TenantryDept } from '../../src/dept/dept.entity';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { aDept } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { ChildService } from '../support/child-service';
import { FreshPlace } from '../support/fresh-place';
import { runCli } from '../support/run-cli';

describe('the demo beside others', () => {
  const place = new FreshPlace();

  const demo = (...args: string[]) => runCli(place.database, ['demo', ...args], '', { PORT: place.port });
  const start = () => ChildService.start(place.database, { PORT: place.port });
  const counts = async ({ manager }: DataSource) => [
    await manager.count(TenantryTenant),
    await manager.count(TenantryDept),
    await manager.count(AccountEntity),
  ];

  it('the demo works while the service is running, with a password that was chosen and is not shown', async () => {
    const service = await start();
    const { code, out } = await demo('--password', 'chosen-by-hand');
    expect([code, out.includes('chosen-by-hand')]).toEqual([0, false]);
    expect(out).toMatch(/^000000 .* admin +superadmin +as before$/m);
    const { tenantId, username } = /^(?<tenantId>\d{6}) .* (?<username>\w+) +member +as given$/m.exec(out)!
      .groups as Record<string, string>;
    const credentials = { tenantId, username, password: 'chosen-by-hand' };
    expect((await service.anonymous.post('/auth/login', credentials)).status).toBe(200);
    expect((await service.anonymous.get('/')).body.data).not.toHaveProperty('demoAccounts');
    await service.stop();
  });

  it('the demo refuses a database that is not empty, and changes nothing', async () => {
    const service = await start();
    const dataSource = await place.database.open(serviceTables);
    await aDept(service.as(), { deptName: 'somebody works here' });
    const { code, out, err } = await demo();
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^error: The database .* is not empty: 0 tenants, 1 department, 0 accounts .*\n$/);
    expect(await counts(dataSource)).toEqual([1, 1, 1]);
    await service.stop();
  });

  it('the demo does not migrate an old database that may be in use', async () => {
    const dataSource = await place.database.open(serviceTables);
    const newest = dataSource.migrations.at(-1)!.name!;
    await dataSource.query(`DELETE FROM tenantry_migrations WHERE name = '${newest}'`);
    const { code, err } = await demo();
    expect([code, err]).toEqual([
      1,
      `error: The database is not up to date: it lacks ${newest}. Run: tenantry migrate\n`,
    ]);
  });

  it('the demo says so when it stops half way', async () => {
    const dataSource = await place.database.open(serviceTables);
    await dataSource.query('CREATE UNIQUE INDEX nobody_leads_two_depts ON tenantry_dept (leader)');
    const stopped = await demo();
    expect([stopped.code, stopped.err]).toEqual([
      1,
      expect.stringMatching(
        /^error: The demo stopped half way: .* holds a part of it: remove that database .*\n$/,
      ),
    ]);
    expect(stopped.out).toMatch(/Admin +admin \/ [\w-]{24} \(shown only this once\)\n$/);
    expect((await demo()).err).toContain('is not empty');
  });

  it('the demo refuses a password that no account may have, before anything is done', async () => {
    const { code, err } = await demo('--password', 'short');
    expect([code, err]).toEqual([2, 'error: --password must be 8 to 128 characters long.\n']);
    const ready = await runCli(place.database, ['tenant:list']);
    expect(ready.code).toBe(1);
  });
});
