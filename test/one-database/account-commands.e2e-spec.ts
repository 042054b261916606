import { runCli } from '../support/run-cli';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

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

  it('commands for accounts refuse in one line that names what was typed, with exit code 1', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const account = ['--tenant', tenantId, '--user', 'grace'];
    await cli(['user:add', ...account]);
    for (const [args, line, input] of [
      [
        ['user:add', ...account],
        `'grace' of tenant '${tenantId}': The user name is already taken (USERNAME_TAKEN)`,
      ],
      [['user:password', '--user', 'nobody'], `'nobody' of tenant '000000': There is no such account`],
      [['user:add', '--user', 'x', '--tenant', '999999'], `There is no tenant '999999'.`],
      [['user:add', ...account, '--roles', 'superadmin'], 'ROLE_TOO_HIGH'],
      [['user:password', ...account, '--password-stdin'], 'newPassword must be', 'short\n'],
    ] as const) {
      const { code, out, err } = await cli([...args], input);
      expect([args, code, out]).toEqual([args, 1, '']);
      expect(err).toMatch(/^error: .*\n$/);
      expect(err).toContain(line);
      expect(err).not.toContain('short');
    }
  });
});
