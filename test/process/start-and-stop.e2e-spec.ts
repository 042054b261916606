import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MigrationExecutor } from 'typeorm';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { version } from '../../src/server/config/version';
import { createServiceDataSource, serviceTables } from '../../src/server/service-data-source';
import { ChildService, SERVE } from '../support/child-service';
import { readExposition } from '../support/exposition';
import { freePort } from '../support/free-port';
import { Receiver } from '../support/receiver';
import { runCli } from '../support/run-cli';
import { stopUnderLoad } from '../support/stop-rounds';
import { emptyDatabase } from '../support/test-database';
import { until } from '../support/until';

const ROOT = join(__dirname, '..', '..');
const run = promisify(execFile);

describe('a start and the schema', () => {
  let database: ThrowAwayDatabase;
  const refusal = async (env: Record<string, string> = {}): Promise<string> => {
    const service = ChildService.spawn({ DATABASE_URL: database.url, PORT: '0', ...env }, database.folder);
    expect(await service.ended()).toBe(1);
    return service.printed;
  };
  const recorded = async (): Promise<string[]> => {
    const dataSource = await (await createServiceDataSource(parseDatabaseUrl(database.url))).initialize();
    const names = (await new MigrationExecutor(dataSource).getExecutedMigrations()).map(({ name }) => name);
    await dataSource.destroy();
    return names;
  };

  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(() => database.drop());

  it('tenantry migrate makes the tables, MIGRATE=off starts on them, and without them it refuses', async () => {
    expect(await refusal({ MIGRATE: 'off' })).toMatch(
      /not up to date: it lacks Settings.* Run: tenantry migrate/,
    );
    const first = await runCli(database, ['migrate']);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toMatch(/^(ran {2}\w+\d{13}\n)+The database \w+ .* is up to date\.\n$/);
    const again = await runCli(database, ['migrate']);
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(/^The database .* is up to date\.\n$/),
    ]);
    const service = await ChildService.start(database, { MIGRATE: 'off' });
    expect((await service.as().get('/system/dept-api')).status).toBe(200);
    await service.stop();
  });

  it('tenantry serve runs the service until it is stopped', async () => {
    const PORT = String(await freePort());
    const service = ChildService.spawn({ DATABASE_URL: database.url, PORT }, database.folder, SERVE);
    await service.untilReady();
    expect(await service.stop()).toBe(0);
    expect(service.printed).toMatch(/^Tenantry \d.*"msg":"stopping".*"msg":"stopped"/s);
  });

  it('a first start that is stopped before it has served tells the password that it has made', async () => {
    const dataSource = await database.open(serviceTables);
    const service = ChildService.spawn({ DATABASE_URL: database.url, PORT: '0' }, database.folder);
    await until(() =>
      dataSource.manager.exists(AccountEntity, { where: { username: 'admin' } }).catch(() => false),
    );
    expect(await service.stop('SIGINT')).toBe(0);
    expect(service.printed).toMatch(/Admin +admin \/ \S+ \(shown only this once\)/);
  });

  it('a start and the commands refuse the schema of a newer version; a replica that runs already goes on', async () => {
    const service = await ChildService.start(database);
    const dataSource = await database.open(serviceTables);
    const name = 'FromTheFuture2763164800000';
    // As the next version may do: it only adds.
    await dataSource.query('ALTER TABLE tenantry_dept ADD COLUMN added_later int DEFAULT 7');
    await dataSource.query(
      `INSERT INTO tenantry_migrations (${dataSource.driver.escape('timestamp')}, name) VALUES (2763164800000, '${name}')`,
    );
    const told = `that of a newer version than ${version}: it has ${name}.`;
    expect(await refusal()).toContain(told);
    expect(await refusal({ MIGRATE: 'off' })).toContain(told);
    for (const command of ['migrate', 'tenant:list']) {
      const { code, err } = await runCli(database, [command]);
      expect([code, err]).toEqual([1, expect.stringContaining(told)]);
    }
    expect((await service.anonymous.get('/health/ready')).status).toBe(200);
    const made = await service.as().post('/system/dept-api', { deptName: '并行' });
    expect((await service.as().get(made.headers.location!)).status).toBe(200);
    await service.stop();
    await dataSource.query('ALTER TABLE tenantry_dept DROP COLUMN added_later');
    await dataSource.query(`DELETE FROM tenantry_migrations WHERE name = '${name}'`);
  });

  it('a start refuses an older schema whose replicas could not live with this one, until they are said to be stopped', async () => {
    // It has made an account: an empty database may be migrated at once.
    await (await ChildService.start(database)).stop();
    const dataSource = await database.open(serviceTables);
    // What it does may be done twice.
    const name = 'DropSettings1763164800022';
    await dataSource.query(`DELETE FROM tenantry_migrations WHERE name = '${name}'`);
    const told = `whose replicas must not run beside ${version}. Stop all of them, back up, then run: tenantry migrate --stopped`;
    expect(await refusal()).toContain(told);
    expect(await runCli(database, ['migrate'])).toMatchObject({ code: 1, out: '' });
    expect(await recorded()).not.toContain(name);
    expect((await runCli(database, ['migrate', '--stopped'])).out).toContain(`ran  ${name}\n`);
    expect(await recorded()).toContain(name);
  });
});

describe('a stop by SIGTERM', () => {
  it('SIGTERM finishes the request in flight, closes idle connections, takes no new ones, and exits with 0', async () => {
    const database = await emptyDatabase();
    const METRICS_PORT = String(await freePort());
    const service = await ChildService.start(database, { METRICS_PORT });
    const metrics = new ApiClient(`http://127.0.0.1:${METRICS_PORT}`);
    const dataSource = await database.open(serviceTables);
    // Hold what every write needs, so that one is surely in flight when the signal comes.
    const rival = dataSource.createQueryRunner();
    await rival.startTransaction();
    await rival.query("UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = '000000'");
    const idle = new ApiClient(service.anonymous.baseUrl);
    await idle.get('/health/live');
    const write = service.as().post('/system/dept-api', { deptName: 'in flight' });
    await until(
      async () =>
        readExposition((await metrics.get('/metrics')).text).get('tenantry_http_requests_in_flight') === 1,
    );
    service.process.kill('SIGTERM');
    await until(async () => {
      const late = new ApiClient(service.anonymous.baseUrl);
      const seen = await late
        .get('/health/live')
        .catch((error: unknown) => (error as NodeJS.ErrnoException).code);
      late.close();
      return seen === 'ECONNREFUSED';
    });
    // Supervisors repeat it.
    service.process.kill('SIGTERM');
    await rival.commitTransaction();
    await rival.release();
    const answer = await write;
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
    expect(await service.ended()).toBe(0);
    for (const client of [idle, metrics, service.anonymous]) client.close();
    expect(await dataSource.manager.countBy(TenantryDept, { deptName: 'in flight' })).toBe(1);
    await database.drop();
  });
});

describe('a stop while receivers of webhooks hang', () => {
  it('a stop cuts off messages and pings of webhooks whose receivers hang, and exits with 0', async () => {
    const database = await emptyDatabase();
    const receiver = await Receiver.start();
    const service = await ChildService.start(database, { WEBHOOK_ALLOW_PRIVATE: 'on' });
    receiver.answer('/hangs', () => undefined);
    receiver.answer('/switches', (_, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: tunnel\r\nConnection: Upgrade\r\n\r\n'),
    );
    const api = service.as();
    const pings = [];
    for (const path of ['/hangs', '/switches']) {
      const { body } = await api.post('/system/webhook-api', { url: receiver.url(path), kinds: ['dept'] });
      pings.push(api.post(`/system/webhook-api/${(body.data as { id: number }).id}/ping`, undefined));
    }
    await aDept(api);
    await until(() => receiver.at('/hangs').length === 2 && receiver.at('/switches').length >= 2);
    expect(await service.stop()).toBe(0);
    const outcomes = (await Promise.all(pings)).map(({ body }) => body.data);
    expect(outcomes).toMatchObject([{ error: 'STOPPED' }, { statusCode: 101 }]);
    await receiver.stop();
    await database.drop();
  });
});

describe('a stop under load', () => {
  it('a stop under load fails no request in flight, and none at all behind a balancer that asks whether it is ready', async () => {
    const database = await emptyDatabase();
    const { failed, doneUnread, exits } = await stopUnderLoad(database, 1, 'by hand');
    expect({ failed, doneUnread, exits }).toEqual({ failed: [], doneUnread: 0, exits: [0] });
    await database.drop();
  });
});

describe('the TypeORM CLI', () => {
  it('the TypeORM CLI works on the same database through ormconfig.ts', async () => {
    const database = await emptyDatabase();
    const cli = async (command: string) => {
      const { stdout } = await run(
        process.execPath,
        ['--import', 'tsx', 'node_modules/typeorm/cli.js', '-d', 'ormconfig.ts', command],
        {
          cwd: ROOT,
          env: { ...process.env, DATABASE_URL: database.url },
        },
      );
      return stdout;
    };
    expect(await cli('migration:run')).toContain('Settings1763164800010');
    expect(await cli('migration:show')).not.toContain('[ ]');
    await database.drop();
  });
});
