import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'jsonwebtoken';
import { createProgram } from '../../src/server/cli/program';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { runCli } from '../support/run-cli';
import { emptyDatabase } from '../support/test-database';

const ROOT = join(__dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

describe('the usage of the command line', () => {
  let database: ThrowAwayDatabase;
  const cli = (args: string[]) => runCli(database, args);
  const commands = createProgram().commands;

  beforeAll(async () => {
    database = await emptyDatabase();
  });
  afterAll(() => database.drop());

  it('the command line lists every command with --help, -h and help', async () => {
    const { code, out, err } = await cli(['--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^Usage: tenantry /);
    for (const command of commands) {
      expect(out).toContain(`${command.name()} `);
      expect(out).toContain(command.description());
    }
    for (const args of [['-h'], ['help']]) expect(await cli(args)).toEqual({ code, out, err });
  });

  it('the command line shows the help as an error without a command', async () => {
    const { code, out, err } = await cli([]);
    expect([code, out, err]).toEqual([2, '', (await cli(['--help'])).out]);
  });

  it.each(commands.map((command) => [command.name(), command] as const))(
    'the command line explains %s, with an example',
    async (name, { options }) => {
      const { code, out, err } = await cli([name, '--help']);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain(`Usage: tenantry ${name}`);
      expect(out).toMatch(new RegExp(`Example:\n {2}tenantry ${name}\\b`));
      for (const { flags, description } of options)
        expect([out.includes(flags), description]).not.toContain(false);
    },
  );

  it('the command line explains a command with -h and with help, too', async () => {
    const asked = await cli(['doctor', '--help']);
    for (const args of [
      ['doctor', '-h'],
      ['help', 'doctor'],
    ])
      expect(await cli(args)).toEqual(asked);
  });

  it('the command line tells its version', async () => {
    for (const flag of ['--version', '-V'])
      expect(await cli([flag])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  it.each([
    [['user:ad'], "unknown command 'user:ad'", 'Did you mean user:add?', 'Run: tenantry --help'],
    [['eat'], "unknown command 'eat'", 'Run: tenantry --help'],
    [['toString'], "unknown command 'toString'"],
    [['--wrong'], "unknown option '--wrong'", 'Run: tenantry --help'],
    [['doctor', '--wrong'], "unknown option '--wrong'", 'Run: tenantry doctor --help'],
    [['doctor', '--repai'], "unknown option '--repai'", 'Did you mean --repair?'],
    [['doctor', 'now'], "unexpected argument 'now'", 'Run: tenantry doctor --help'],
    [['user:add'], "required option '--user <name>' not specified"],
    [['user:add', '--user'], "option '--user <name>' argument missing"],
    [['user:add', '--user', '--password-stdin'], "argument '--password-stdin' is invalid"],
    [
      ['user:add', '--user', 'x', '--roles', 'boss'],
      "argument 'boss' is invalid",
      'superadmin, tenant_admin',
    ],
    [['user:add', '--user', 'x', '--tenant', 'abc'], "argument 'abc' is invalid", 'code of a tenant'],
    [['key:add', '--permissions', 'dept:read'], "required option '--name <name>' not specified"],
    [['key:add', '--name', 'x'], "required option '--permissions <list>' not specified"],
    [
      ['key:add', '--name', 'x'.repeat(61), '--permissions', 'x:y'],
      'the name of a key of 1 to 60 characters',
    ],
    [
      ['key:add', '--name', 'x', '--permissions', 'x:y', '--days', '0'],
      'Expected a number of days above 0, up to 36500.',
    ],
    [['key:delete'], "required option '--name <name>' not specified"],
    [['adopt'], 'Give --table or --file.'],
    [
      ['adopt', '--table', 'a', '--file', 'b.csv'],
      "'--table <name>' cannot be used with option '--file <path>'",
    ],
    [['adopt', '--table', 'a', '--map', 'name=x'], '--map', 'fields are deptId, parentId'],
    [['token', '--minutes', 'abc'], "argument 'abc' is invalid", 'Expected a number of minutes above 0.'],
    [['token', '--minutes', '-1'], "argument '-1' is invalid"],
    [['token', '--minutes', '0'], "argument '0' is invalid"],
    [['token', '--minutes', ''], "argument '' is invalid"],
    [['token', '--roles', ','], "argument ',' is invalid"],
    [['token', '--user', ' '], "argument ' ' is invalid"],
    [
      ['token', '--scope', 'dept:read dept:eat'],
      "no permission 'dept:eat'",
      'there are dept:read, dept:write',
    ],
    [
      ['token', '--scope', ' '],
      "argument ' ' is invalid",
      'Expected permissions, with spaces or commas between them.',
    ],
    [['token', '--managed-depts', '1,x'], "argument '1,x' is invalid", 'Expected up to 50 ids'],
    [['token', '--managed-depts', ''], "argument '' is invalid"],
    [['token', '--tenant', '100001', '--roles', 'superadmin'], 'superadmin', '000000', "'100001'"],
  ])('the command line refuses %j with 2 and says what was typed', async (args, ...texts) => {
    const { code, out, err } = await cli(args);
    expect([code, out]).toEqual([2, '']);
    for (const text of texts) expect(err).toContain(text);
    expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
    expect(err).not.toMatch(/Usage:|\bat .*\.js/);
  });

  it('the command line prints tokens that are limited', async () => {
    const part = ['--roles', 'dept_admin', '--managed-depts', '1,2'];
    const { code, out, err } = await cli(['token', '--scope', 'dept:read  change:read', ...part]);
    expect([code, err]).toEqual([0, '']);
    const limits = { scope: 'dept:read change:read', roles: ['dept_admin'], managedDeptIds: [1, 2] };
    expect(decode(out.trim())).toMatchObject(limits);
    const whole = decode((await cli(['token'])).out.trim()) as object;
    for (const claim of ['scope', 'managedDeptIds', 'dataScope']) expect(whole).not.toHaveProperty(claim);
  });

  it('the command line refuses with 1, in one line, what it cannot be blamed for', async () => {
    const missing = await cli(['doctor']);
    expect([missing.code, missing.out, missing.err]).toEqual([
      1,
      '',
      expect.stringMatching(/^error: There is no database .*test\.sqlite\..*\n$/),
    ]);
    const file = join(database.folder, 'broken.sqlite');
    writeFileSync(file, 'This is no database, but long enough to be looked at.');
    const broken = await runCli({ ...database, url: `sqlite:${file}` }, ['tenant:list']);
    expect([broken.code, broken.out, broken.err]).toEqual([
      1,
      '',
      expect.stringMatching(
        /^error: DATABASE_URL: the database SQLite .*broken\.sqlite cannot be used: file is not a database\n$/,
      ),
    ]);
  });

  it('every command is in docs/operations.md as it is', () => {
    const guide = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
    for (const command of commands) {
      const row = guide.split('\n').find((line) => line.startsWith(`| \`${command.name()}`)) ?? '';
      expect([command.name(), row]).not.toContain('');
      for (const { long } of command.options)
        expect([command.name(), row]).toEqual([command.name(), expect.stringContaining(long!)]);
    }
  });

  it.each(['cli', 'token'])('npm run %s says that nothing is built, where it is so', async (script) => {
    copyFileSync(join(ROOT, 'package.json'), join(database.folder, 'package.json'));
    expect(existsSync(join(database.folder, 'dist'))).toBe(false);
    const { code, out, err } = await new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      execFile('npm', ['run', '--silent', script], { cwd: database.folder }, (error, stdout, stderr) => {
        resolve({ code: error?.code, out: stdout, err: stderr });
      });
    });
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('Nothing is built yet. Run: npm run build\n');
    expect(err).not.toMatch(/MODULE_NOT_FOUND|\bat .*\.js/);
  });
});
