import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFile } from 'node:child_process';
import * as nodeModule from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TEST_SECRET } from '../../src/server/testing';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { version } from '../../src/server/config/version';
import { createServiceDataSource } from '../../src/server/service-data-source';
import { ChildService, SERVE } from '../support/child-service';
import { freePort } from '../support/free-port';
import { FreshPlace } from '../support/fresh-place';

const ROOT = join(__dirname, '..', '..');

function linesOf({ printed }: ChildService): object[] {
  return printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
}

describe('npm start', () => {
  let folder: string;
  const start = () =>
    new Promise<string>((resolve) => {
      execFile('npm', ['--silent', 'start'], { cwd: folder }, (error, stdout, stderr) => {
        resolve(`${stderr}${stdout}${error ? 'failed\n' : ''}`);
      });
    });
  const source = (seconds: number, path = 'src/a.ts') => {
    utimesSync(join(folder, path), seconds, seconds);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-npm-start-'));
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: { prestart: string; postbuild: string };
    };
    const { prestart, postbuild } = scripts;
    const build = 'mkdir -p dist && test ! -e src/broken.ts';
    const own = { scripts: { build, postbuild, prestart, start: 'echo served' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
    copyFileSync(join(ROOT, 'build-when-needed.mjs'), join(folder, 'build-when-needed.mjs'));
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src', 'a.ts'), '');
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('npm start builds only what has changed since the last build that succeeded, and says so', async () => {
    expect(await start()).toBe('Building: nothing is built yet.\nserved\n');
    expect(await start()).toBe('served\n');
    source(Date.now() / 1000 + 1);
    expect(await start()).toBe('Building: src/a.ts has changed.\nserved\n');
    source(1);
    writeFileSync(join(folder, 'src', 'broken.ts'), '');
    for (const path of ['src', 'src/broken.ts']) source(Date.now() / 1000 + 1, path);
    expect(await start()).toMatch(/^Building: src has changed.\n(.*\n)?failed\n$/);
    expect(await start()).toMatch(/^Building: src has changed.\n(.*\n)?failed\n$/);
  });
});

describe('a start', () => {
  const place = new FreshPlace();

  it('a start says where it is, and the first one says the password it made, once', async () => {
    const first = ChildService.spawn(place.settings(), place.database.folder);
    await first.untilReady();
    expect(first.printed).toMatch(new RegExp(`^Tenantry ${version}\n`));
    expect(first.printed).toMatch(new RegExp(`API +http://127.0.0.1:${place.port}\n`));
    expect(first.printed).toMatch(new RegExp(`Swagger UI +http://127.0.0.1:${place.port}/docs\n`));
    expect(first.printed).toMatch(/Database +(SQLite|MySQL) /);
    const password = /Admin +admin \/ (\S{24}) /.exec(first.printed)?.[1];
    expect(password).toBeDefined();
    expect((await first.anonymous.get('/docs')).status).toBe(200);
    expect(await first.stop()).toBe(0);

    const second = ChildService.spawn(place.settings(), place.database.folder);
    await second.untilReady();
    expect(second.printed).not.toMatch(/Admin/);
    await second.stop();
  });

  it('a start loads no package of what is off, and none of another database', async () => {
    const off = [
      'ioredis',
      'jose',
      'mysql2',
      'pg',
      'pino-pretty',
      'preact',
      'prom-client',
      'swagger-ui-dist',
    ];
    const production = { NODE_ENV: 'production', JWT_SECRET: TEST_SECRET, ADMIN_PASSWORD: 'admin-password' };
    const program = ['--require', join(ROOT, 'test', 'support', 'print-packages.cjs'), ...SERVE];
    const service = ChildService.spawn(place.settings(production), place.database.folder, program);
    await service.untilReady();
    expect(await service.stop()).toBe(0);
    const [packages = ''] = service.printed.split('\n').filter((line) => line.startsWith('['));
    const loaded = JSON.parse(packages) as string[];
    expect(loaded).toContain('typeorm');
    expect(off.filter((name) => loaded.includes(name))).toEqual([]);
  });

  it('a start keeps what it has compiled beside the code where Node.js can, and begins also where it may not write', async () => {
    const built = join(ROOT, 'dist', 'server', 'config', 'compile-cache.js');
    const elsewhere = join(place.database.folder, 'dist');
    mkdirSync(join(elsewhere, 'server', 'config'), { recursive: true });
    const copy = join(elsewhere, 'server', 'config', 'compile-cache.js');
    copyFileSync(built, copy);
    // No folder can be made there; rights would not keep root from it.
    writeFileSync(join(elsewhere, '.compiled'), '');
    const folderOf = (file: string) => {
      const script = `require('${file}'); process.stdout.write(String(require('module').getCompileCacheDir?.()))`;
      return promisify(execFile)(process.execPath, ['-e', script]);
    };
    const hasCache = 'enableCompileCache' in nodeModule;
    const kept = hasCache ? new RegExp(`^${join(ROOT, 'dist', '.compiled')}`) : /^undefined$/;
    expect((await folderOf(built)).stdout).toMatch(kept);
    expect(await folderOf(copy)).toEqual({ stdout: 'undefined', stderr: '' });
  });

  it('a start that fails at the port still tells the password it made', async () => {
    const taken = createServer().listen(Number(place.port), '127.0.0.1');
    const service = ChildService.spawn(place.settings(), place.database.folder);
    expect(await service.ended()).toBe(1);
    expect(service.printed).toMatch(/Admin +admin \/ \S{24} .*EADDRINUSE/s);
    taken.close();
  });

  it('every line of a service in production is JSON, from its start to its stop', async () => {
    const METRICS_PORT = String(await freePort());
    const production = { NODE_ENV: 'production', JWT_SECRET: TEST_SECRET, ADMIN_PASSWORD: 'admin-password' };
    const settings = place.settings({ ...production, METRICS_PORT, LOG_LEVEL: 'warn' });
    const service = ChildService.spawn(settings, place.database.folder);
    await service.untilReady();
    expect((await service.as().get('/system/dept-api/1')).status).toBe(404);
    expect(await service.stop()).toBe(0);
    expect(linesOf(service)).toMatchObject([
      {
        msg: 'started',
        level: 30,
        version,
        address: `http://127.0.0.1:${place.port}`,
        metrics: `http://127.0.0.1:${METRICS_PORT}/metrics`,
        database: `SQLite ${place.database.url.slice('sqlite:'.length)}`,
        migrations: expect.arrayContaining(['Settings1763164800010', 'Quotas1763164800018']) as string[],
      },
      { status: 404, path: '/system/dept-api/1' },
      { msg: 'stopping', signal: 'SIGTERM', waitMs: 500 },
      { msg: 'stopped', level: 30 },
    ]);

    const taken = createServer().listen(Number(METRICS_PORT), '127.0.0.1');
    const again = ChildService.spawn(settings, place.database.folder);
    expect(await again.ended()).toBe(1);
    const told = { msg: 'did not start', level: 60, version };
    const problem = `METRICS_HOST, METRICS_PORT: listen EADDRINUSE: address already in use 127.0.0.1:${METRICS_PORT}`;
    expect(linesOf(again)).toMatchObject([{ ...told, problem }]);
    taken.close();
    const wrong = ChildService.spawn({ ...settings, PORT: 'x' }, place.database.folder);
    expect(await wrong.ended()).toBe(1);
    expect(linesOf(wrong)).toMatchObject([
      { ...told, problem: 'The configuration is not valid:\n  PORT: must be a port number' },
    ]);
  });

  it('every line of a service in production is JSON, also where a migration fails', async () => {
    const location = parseDatabaseUrl(place.database.url);
    const dataSource = await (await createServiceDataSource(location)).initialize();
    await dataSource.query('CREATE VIEW tenantry_tenant AS SELECT 1');
    const production = { NODE_ENV: 'production', JWT_SECRET: TEST_SECRET, ADMIN_PASSWORD: 'admin-password' };
    const service = ChildService.spawn(place.settings(production), place.database.folder);
    expect(await service.ended()).toBe(1);
    expect(linesOf(service)).toMatchObject([{ msg: 'did not start', level: 60, version }]);
    await dataSource.query('DROP VIEW tenantry_tenant');
    await dataSource.destroy();
  });
});
