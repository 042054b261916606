import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { mariadbBinary } from '../support/server-binaries.js';
import { urlOfServer } from '../support/server-of-run';
import { freePort } from '../support/free-port';
import { TenantryDept } from '../../src/dept/dept.entity';
import { serviceTables } from '../../src/server/service-data-source';
import { Chance, faultsSeed } from '../support/chance';
import { openBeside } from '../support/crash-rounds';
import { until } from '../support/until';
import { WriteLoad } from '../support/write-load';
import { ask } from './support/node-state';

const run = promisify(execFile);
const BEFORE = 300;
const SERVER = urlOfServer('mariadb');

/** As docs/operations.md tells an operator to do it. */
describe('a backup that is taken while clients write', () => {
  let folder: string;
  let source: ThrowAwayDatabase;
  let service: ChildService;
  const servers: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-backup-'));
  });
  afterEach(async () => {
    await service.stop();
    await source.drop();
    for (const server of servers.splice(0)) server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** Takes a backup under load; gives the departments that had been acknowledged before it began. */
  async function under(database: ThrowAwayDatabase, backup: () => Promise<unknown>): Promise<number[]> {
    source = database;
    service = await ChildService.start(database);
    const dataSource = await database.open(serviceTables);
    const load = await WriteLoad.on([() => service.anonymous], dataSource, new Chance(faultsSeed('backup')));
    load.begin();
    await load.untilMore(BEFORE);
    const before = load.deptIds;
    await backup();
    await load.untilMore(10);
    await load.rest();
    return before;
  }

  /** Serves the restored database with the same secret: it must be sound, complete, open to its accounts, and writable. */
  async function expectWhole(url: string, before: readonly number[]): Promise<void> {
    const restored = await ChildService.start({ url, folder } as ThrowAwayDatabase);
    try {
      const dataSource = await openBeside({ url });
      expect((await new ServiceDoctor(dataSource).examine()).findings).toEqual([]);
      const there = new Set((await dataSource.manager.find(TenantryDept)).map(({ deptId }) => deptId));
      expect(before.filter((deptId) => !there.has(deptId))).toEqual([]);
      await dataSource.destroy();
      const admin = { tenantId: '000000', username: 'admin', password: 'admin-password' };
      expect((await restored.anonymous.post('/auth/login', admin)).status).toBe(200);
      expect((await restored.as().post('/system/dept-api', {})).status).toBe(200);
    } finally {
      await restored.stop();
    }
  }

  it.each([
    ['VACUUM INTO', (file: string) => `VACUUM INTO '${file}'`],
    ['.backup', (file: string) => `.backup '${file}'`],
  ])('a backup of a SQLite file by %s, taken while clients write, is whole', async (_, command) => {
    const database = await throwAwayDatabase();
    const copy = join(folder, 'copy.sqlite');
    const { path } = parseDatabaseUrl(database.url) as { path: string };
    const patience = ['-cmd', '.timeout 10000'];
    const before = await under(database, () => run('sqlite3', [...patience, path, command(copy)]));
    await expectWhole(`sqlite:${copy}`, before);
  });

  it('a backup of a MariaDB by mariadb-dump, taken while clients write, is whole', async () => {
    const { hostname, port } = new URL(SERVER);
    const login = ['--no-defaults', `--host=${hostname}`, `--port=${port}`, '--user=root'];
    const file = join(folder, 'dump.sql');
    const how = '--single-transaction --quick --hex-blob --default-character-set=utf8mb4'.split(' ');
    const before = await under(await throwAwayDatabase({ server: SERVER }), () =>
      run('mariadb-dump', [...login, ...how, `--result-file=${file}`, new URL(source.url).pathname.slice(1)]),
    );
    const target = await throwAwayDatabase({ server: SERVER });
    try {
      const name = new URL(target.url).pathname.slice(1);
      execFileSync('mariadb', [...login, '--default-character-set=utf8mb4', name], {
        stdio: [openSync(file, 'r'), 'pipe', 'pipe'],
      });
      await expectWhole(target.url, before);
    } finally {
      await target.drop();
    }
  });

  it('a backup of a MariaDB by mariadb-backup, taken while clients write, is whole', async () => {
    const { hostname, port } = new URL(SERVER);
    const copy = join(folder, 'data');
    const [server] = await ask(SERVER, 'SELECT @@datadir AS folder');
    const before = await under(await throwAwayDatabase({ server: SERVER }), () =>
      run('mariadb-backup', [
        ...['--no-defaults', '--backup', `--target-dir=${copy}`, `--datadir=${String(server?.folder)}`],
        ...[`--host=${hostname}`, `--port=${port}`, '--user=root'],
      ]),
    );
    await run('mariadb-backup', ['--no-defaults', '--prepare', `--target-dir=${copy}`]);
    const url = new URL(source.url);
    url.port = String(await serve(copy));
    await expectWhole(url.href, before);
  });

  async function serve(data: string): Promise<number> {
    const port = await freePort();
    const server = spawn(
      mariadbBinary()!,
      [
        ...['--no-defaults', `--datadir=${data}`, `--user=${userInfo().username}`, '--skip-log-bin'],
        ...['--bind-address=127.0.0.1', `--port=${port}`, `--socket=${join(folder, 'socket')}`],
      ],
      { stdio: 'ignore' },
    );
    servers.push(server);
    process.once('exit', () => server.kill('SIGKILL'));
    const url = `mysql://root@127.0.0.1:${port}`;
    await until(async () => (await ask(url, 'SELECT 1').catch(() => null)) !== null);
    return port;
  }
});
