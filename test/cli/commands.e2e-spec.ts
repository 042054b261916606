import { TenantryDept } from '../../src/dept/dept.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { aDept, aTenant } from '../../src/server/testing';
import { breakOnPurpose } from '../support/examined-databases';
import { runCli } from '../support/run-cli';
import { anAccount, aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

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
