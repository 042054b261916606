import { aDept } from '../../src/server/testing';
import { runCli } from '../support/run-cli';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

describe('the commands for accounts', () => {
  const service = ServiceUnderTest.use();

  const cli = (args: string[], input?: string) => runCli(service.database, args, input);

  const login = async (tenantId: string, username: string, password: string) =>
    (await service.anonymous.post('/auth/login', { tenantId, username, password })).status;

  it('user:password sets a password that it reads, and never shows', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    await cli(['user:add', '--tenant', tenantId, '--user', 'frank']);
    const args = `user:password --tenant ${tenantId} --user frank --password-stdin`.split(' ');
    const { code, out } = await cli(args, 'typed-by-hand\n');
    expect([code, out]).toEqual([0, 'frank\n']);
    expect(await login(tenantId, 'frank', 'typed-by-hand')).toBe(200);
  });

  it('user:unlock lifts the lock-out of an account, also when it is typed as two words', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const account = ['--tenant', tenantId, '--user', 'judy'];
    const [, password = ''] = (await cli(['user:add', ...account])).out.trim().split('  ');
    for (const command of [['user:unlock'], ['user', 'unlock']]) {
      for (let n = 0; n < 5; n += 1) await login(tenantId, 'judy', 'wrong-password');
      expect(await login(tenantId, 'judy', password)).toBe(401);
      expect(await cli([...command, ...account])).toEqual({ code: 0, out: 'judy\n', err: '' });
      expect(await login(tenantId, 'judy', password)).toBe(200);
    }
  });

  it('user:add makes a department administrator of live departments only', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const deptId = await aDept(service.as({ tenantId }));
    const add = (user: string, ids: number) =>
      cli([
        'user:add',
        '--tenant',
        tenantId,
        '--user',
        user,
        '--roles',
        'dept_admin',
        '--managed-depts',
        `${ids}`,
      ]);
    expect((await add('heidi', deptId)).code).toBe(0);
    expect((await service.as({ tenantId }).get('/system/user-api?username=heidi')).body.data).toMatchObject({
      rows: [{ roles: ['dept_admin'], managedDeptIds: [deptId] }],
    });
    expect(await add('ivan', deptId + 1000)).toMatchObject({ code: 1, out: '' });
  });

  it('key:add prints a secret that works until key:delete, and key:list never shows it', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const key = ['--tenant', tenantId, '--name', 'nightly'];
    const { code, out } = await cli([
      'key:add',
      ...key,
      '--permissions',
      'dept:read, change:read',
      '--days',
      '2',
    ]);
    const [name, secret = ''] = out.trim().split(/\s+/);
    expect([code, name]).toEqual([0, 'nightly']);
    const me = async () => (await service.anonymous.as(secret).get('/auth/me')).status;
    expect(await me()).toBe(200);
    const list = await cli(['key:list', '--tenant', tenantId]);
    expect(list.out).toMatch(
      /^nightly {2}enabled {3}member {2}dept:read,change:read {2}ends \d{4}-.* {2}used \d{4}-.*\n$/,
    );
    expect(list.out).not.toContain(secret);
    expect(await cli(['key:delete', ...key])).toEqual({ code: 0, out: 'nightly\n', err: '' });
    // It was deleted by another process.
    await until(async () => (await me()) === 401);
  });

  it('commands for accounts refuse in one line that names what was typed, with exit code 1', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const account = ['--tenant', tenantId, '--user', 'grace'];
    await cli(['user:add', ...account]);
    await cli(['key:add', '--tenant', tenantId, '--name', 'once', '--permissions', 'dept:read']);
    const again = ['key:add', '--tenant', tenantId, '--name', 'once', '--permissions'];
    for (const [args, line, input] of [
      [
        ['user:add', ...account],
        `'grace' of tenant '${tenantId}': The user name is already taken (USERNAME_TAKEN)`,
      ],
      [['user:password', '--user', 'nobody'], `'nobody' of tenant '000000': There is no such account`],
      [['user:unlock', '--user', 'nobody'], `'nobody' of tenant '000000': There is no such account`],
      [['user:add', '--user', 'x', '--tenant', '999999'], `There is no tenant '999999'.`],
      [['user:add', ...account, '--roles', 'superadmin'], 'ROLE_TOO_HIGH'],
      [['user:password', ...account, '--password-stdin'], 'newPassword must be', 'short\n'],
      [[...again, 'dept:read'], `Key 'once' of tenant '${tenantId}': The name of the key is already taken`],
      [[...again, 'dept:fly'], 'permissions must be a list of permissions: dept:read,'],
      [[...again, 'dept:read', '--roles', 'superadmin'], 'KEY_EXCEEDS_MAKER'],
      [['key:delete', '--name', 'nobody'], "'nobody' of tenant '000000': There is no such key"],
    ] as const) {
      const { code, out, err } = await cli([...args], input);
      expect([args, code, out]).toEqual([args, 1, '']);
      expect(err).toMatch(/^error: .*\n$/);
      expect(err).toContain(line);
      expect(err).not.toContain('short');
    }
  });
});
