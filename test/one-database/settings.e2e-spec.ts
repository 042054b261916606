import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { mintToken, TEST_SECRET } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { FreshPlace } from '../support/fresh-place';
import { startPostgres } from '../support/postgres-server';
import { postgresFolder } from '../support/server-binaries.js';
import { emptyDatabase } from '../support/test-database';
import { until } from '../support/until';

const ROOT = join(__dirname, '..', '..');
const run = promisify(execFile);

/** What has nothing to do with the database runs once, on the default one. */
describe('the settings of a start', () => {
  const place = new FreshPlace();

  it('a start makes a secret that only its owner can read, and signs tokens with it', async () => {
    const service = ChildService.spawn(place.settings(), place.database.folder);
    await service.untilReady();
    const file = join(place.database.folder, 'data', 'jwt-secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { stdout } = await run(
      process.execPath,
      [join(ROOT, 'dist', 'server', 'cli', 'main.js'), 'token'],
      {
        cwd: place.database.folder,
      },
    );
    const api = service.anonymous.as(stdout.trim());
    expect((await api.post('/system/dept-api', { deptName: '总公司' })).status).toBe(200);
    expect(service.printed).not.toContain(readFileSync(file, 'utf8'));
    expect(service.printed).not.toContain(stdout.trim());
    await service.stop();
  });

  it('a start of several processes at once makes one secret', async () => {
    const script = `process.stdout.write(require('${join(ROOT, 'dist/server/auth/jwt-key.js')}').jwtKey({ DATA_DIR: process.argv[1] }).export())`;
    for (let round = 0; round < 5; round += 1) {
      const folder = join(place.database.folder, `secret-${round}`);
      const made = await Promise.all(
        Array.from({ length: 4 }, () => run(process.execPath, ['-e', script, folder])),
      );
      expect(new Set(made.map(({ stdout }) => stdout)).size).toBe(1);
    }
  });

  it('a start reads .env, and lets the environment win', async () => {
    writeFileSync(join(place.database.folder, '.env'), `PORT=1\nJWT_ISSUER=from-file\nLOG_LEVEL=silent\n`);
    const service = ChildService.spawn(place.settings({ JWT_SECRET: TEST_SECRET }), place.database.folder);
    await service.untilReady();
    expect(service.printed).not.toContain('"method"');
    expect((await service.as().get('/system/dept-api/1')).refusal.reason).toBe('TOKEN_INVALID');
    await service.stop();
  });

  it('a start with a bad environment ends with one message that lists every problem', async () => {
    const bad = {
      PORT: 'x',
      TIME_ZONE: 'nowhere',
      DATABASE_URL: 'mysql://u:pw-123@',
      JWT_SECRET: 'short',
      QUOTA_KEEP_DAYS: '-1',
      PACKAGE_CEILING: 'yes',
      QUOTA_CEILING: '1',
    };
    const service = ChildService.spawn(bad);
    expect(await service.ended()).toBe(1);
    for (const name of Object.keys(bad)) expect(service.printed).toContain(name);
    expect(service.printed).not.toContain('pw-123');
    expect(service.printed).not.toMatch(/\bat .*\.js/);
  });

  it('a start in production wants a secret, and a password for the first administrator', async () => {
    const withoutSecret = ChildService.spawn(
      place.settings({ NODE_ENV: 'production' }),
      place.database.folder,
    );
    expect(await withoutSecret.ended()).toBe(1);
    expect(withoutSecret.printed).toContain('JWT_SECRET: must be set in production');
    const production = { NODE_ENV: 'production', JWT_SECRET: TEST_SECRET };
    const withoutPassword = ChildService.spawn(place.settings(production), place.database.folder);
    expect(await withoutPassword.ended()).toBe(1);
    expect(withoutPassword.printed).toContain('set ADMIN_PASSWORD');
    const service = ChildService.spawn(
      place.settings({ ...production, ADMIN_PASSWORD: 'long-enough' }),
      place.database.folder,
    );
    await service.untilReady();
    expect((await service.anonymous.get('/docs')).status).toBe(404);
    expect(service.printed).not.toContain('long-enough');
    await service.stop();
  });

  it('a start that fails names the setting, and the address or the file that is meant', async () => {
    const taken = createServer().listen(Number(place.port), '127.0.0.1');
    const file = join(place.database.folder, 'letter.sqlite');
    writeFileSync(file, 'This is no database, but long enough to be looked at.');
    const inUse = `listen EADDRINUSE: address already in use 127.0.0.1:${place.port}`;
    const failures: [Record<string, string>, string][] = [
      [place.settings(), `HOST, PORT: ${inUse}`],
      [place.settings({ PORT: '0', METRICS_PORT: place.port }), `METRICS_HOST, METRICS_PORT: ${inUse}`],
      [place.settings({ PORT: '0', HOST: '192.0.2.1' }), 'HOST, PORT: listen EADDRNOTAVAIL'],
      [
        place.settings({ DATABASE_URL: `sqlite:${file}` }),
        `DATABASE_URL: the database SQLite ${file} cannot be used: file is not a database`,
      ],
      [
        place.settings({ DATABASE_URL: `sqlite:${file}/below` }),
        `DATABASE_URL: the database SQLite ${file}/below cannot be used: `,
      ],
    ];
    for (const [settings, told] of failures) {
      const service = ChildService.spawn(settings, place.database.folder);
      expect(await service.ended()).toBe(1);
      expect(service.printed).toContain(`Tenantry did not start. ${told}`);
    }
    taken.close();
  });

  const bin = postgresFolder();
  if (bin !== undefined)
    it('a start that PostgreSQL refuses says what is missing: the password, the right one, the database or the schema', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tenantry-hba-'));
      chmodSync(folder, 0o755);
      writeFileSync(join(folder, 'hba'), 'host all somebody all scram-sha-256\nhost all all all trust\n');
      const server = await startPostgres(bin, { settings: [`hba_file=${join(folder, 'hba')}`] });
      const as = (who: string, rest: string) => `${server.url.replace('postgres@', `${who}@`)}/${rest}`;
      const address = `127.0.0.1:${server.port}`;
      const refusals = [
        [as('somebody', 'postgres'), 'The database server asks for a password, and DATABASE_URL has none.'],
        [as('somebody:wrong-one', 'postgres'), 'password authentication failed for user "somebody"'],
        [as('postgres', 'nowhere'), `@${address}/nowhere cannot be used: database "nowhere" does not exist`],
        [as('postgres', 'postgres?schema=none'), `/postgres cannot be used: There is no schema none in it.`],
      ] as const;
      for (const [DATABASE_URL, told] of refusals) {
        const service = ChildService.spawn({ ...place.settings(), DATABASE_URL }, place.database.folder);
        expect(await service.ended()).toBe(1);
        expect(service.printed).toContain('Tenantry did not start. DATABASE_URL: the database PostgreSQL ');
        expect(service.printed).toContain(told);
        expect(service.printed).not.toContain('wrong-one');
      }
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
});

describe('a stop while clients dawdle', () => {
  it('a stop does not wait for connections on which nothing was asked, nor for ever for half a body', async () => {
    const database = await emptyDatabase();
    const service = await ChildService.start(database);
    const port = Number(new URL(service.anonymous.baseUrl).port);
    const closed: string[] = [];
    const dawdle = async (name: string, bytes: string): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.once('close', () => closed.push(name));
      await once(socket, 'connect');
      socket.write(bytes);
      return socket;
    };
    await dawdle('silent', '');
    await dawdle('half a header', 'POST /system/dept-api HTTP/1.1\r\nHost: x\r\n');
    const halfBody = await dawdle(
      'half a body',
      `POST /system/dept-api HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mintToken()}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    // The service has begun with it.
    expect(String(await once(halfBody, 'data'))).toContain('100 Continue');
    expect(await service.stop()).toBe(0);
    await until(() => closed.length === 3);
    expect([closed.slice(0, 2).sort(), closed[2]]).toEqual([['half a header', 'silent'], 'half a body']);
    await database.drop();
  });
});
