import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { Chance, faultsSeed } from '../support/chance';
import { ChildService } from '../support/child-service';
import {
  killServerOften,
  killServiceOften,
  killWorkersOften,
  swallowCommits,
  type CrashReport,
} from '../support/crash-rounds';
import { grantsMayDangle } from '../support/examined-databases';
import { runHostile } from '../support/hostile/run';
import { hostileWorld } from '../support/hostile/world';
import { runIsolation } from '../support/isolation/run';
import { startInnodb } from '../support/innodb-server';
import { mariadbBinary, mysqlBinary, postgresFolder } from '../support/server-binaries.js';
import { startPostgres } from '../support/postgres-server';
import { memoryMb } from '../support/process-memory';
import { runCli } from '../support/run-cli';
import { ServiceUnderTest } from '../support/service-under-test';
import { stopUnderLoad } from '../support/stop-rounds';
import { emptyDatabase } from '../support/test-database';
import type { ServerProcess } from '../support/server-process';

const RECOVERY_MS = 5000;
/** Memory that doubles after the first thousand requests would be a leak. */
const GROWTH = 2;
const WARM_UP = 1000;

let mysql: ServerProcess;
let postgres: ServerProcess;
beforeAll(async () => {
  mysql = await startInnodb(mysqlBinary()!);
  postgres = await startPostgres(postgresFolder()!);
});
afterAll(async () => {
  await mysql.stop();
  await postgres.stop();
});

const SERVERS: [string, () => Promise<ThrowAwayDatabase>, number][] = [
  ['MariaDB', emptyDatabase, 20_000],
  ['MySQL', () => throwAwayDatabase({ server: mysql.url }), 20_000],
  ['PostgreSQL', () => throwAwayDatabase({ server: postgres.url }), 20_000],
];
const DATABASES: typeof SERVERS = [...SERVERS, ['SQLite', throwAwayDatabase, 5_000]];
const print = (name: string, report: unknown) => process.stderr.write(`${name}: ${JSON.stringify(report)}\n`);

/** The runs of test/database, test/process, test/http and test/tenancy at full length. */
describe('crashes under write load lose and double nothing', () => {
  function judge(name: string, report: CrashReport): void {
    print(name, report);
    expect(report.slowestMs).toBeLessThan(RECOVERY_MS);
    expect(report.acknowledged).toBeGreaterThan(report.rounds * 6);
  }

  it.each(DATABASES)(
    '30 crashes of the service on %s lose and double no write',
    async (name, makeDatabase) => {
      const database = await makeDatabase();
      judge(name, await killServiceOften(database, 30, new Chance(faultsSeed(`service on ${name}`))));
      await database.drop();
    },
  );

  it.each([
    ['MariaDB', () => startInnodb(mariadbBinary()!, { isDurable: true })],
    ['MySQL', () => startInnodb(mysqlBinary()!, { isDurable: true })],
    ['PostgreSQL', () => startPostgres(postgresFolder()!, { isDurable: true })],
  ])('10 crashes of %s lose and double no write', async (name, start) => {
    const server = await start();
    const database = await throwAwayDatabase({ server: server.url });
    judge(name, await killServerOften(server, database, 10, new Chance(faultsSeed(`kill ${name}`))));
    await database.drop();
    await server.stop();
  });

  it.each(SERVERS)(
    '100 lost answers to COMMIT of %s lose and double no write',
    async (name, makeDatabase) => {
      const database = await makeDatabase();
      const report = await swallowCommits(
        database,
        100,
        new Chance(faultsSeed(`unknown commits of ${name}`)),
      );
      print(`unknown commits of ${name}`, report);
      expect(report).toMatchObject({ swallowed: 100, problems: [], untold: [] });
      expect(report.hung).toBeGreaterThan(0);
      await database.drop();
    },
  );
});

it('20 stops at 70 % load fail no request in flight and end in time', async () => {
  const database = await emptyDatabase();
  const report = await stopUnderLoad(database, 20);
  print('stops', report);
  expect(report).toMatchObject({ failed: [], doneUnread: 0, exits: Array<number>(20).fill(0) });
  expect(report.slowestMs).toBeLessThan(10_000);
  await database.drop();
});

describe.each(SERVERS)('two workers on %s', (name, makeDatabase) => {
  it('20 kills of a worker under write load lose and double nothing, and nobody waits for longer than a second', async () => {
    const database = await makeDatabase();
    const chance = new Chance(faultsSeed(`kill a worker on ${name}`));
    const report = await killWorkersOften(database, 20, chance);
    print(`kills of a worker on ${name}`, report);
    expect(report.slowestMs).toBeLessThan(1000);
    await database.drop();
  });

  it('10 stops of two workers at 70 % load fail no request in flight and end in time', async () => {
    const database = await makeDatabase();
    const report = await stopUnderLoad(database, 10, 'in time', '2');
    print(`stops of two workers on ${name}`, report);
    expect(report).toMatchObject({ failed: [], doneUnread: 0, exits: Array<number>(10).fill(0) });
    expect(report.slowestMs).toBeLessThan(10_000);
    await database.drop();
  });
});

it.each(DATABASES)('tenant isolation holds against every probe on %s', async (name, makeDatabase) => {
  const service = await ServiceUnderTest.on(await makeDatabase(), {
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOW_PRIVATE: 'on',
  });
  const { problems, probes } = await runIsolation({
    service,
    seed: faultsSeed(name),
    share: 1,
    everyRole: true,
  });
  expect(problems).toEqual([]);
  expect(probes).toBeGreaterThan(5000);
  await service.stop();
});

it.each(DATABASES)('hostile input on %s never fails the service', async (name, makeDatabase, count) => {
  const seed = faultsSeed(`hostile input on ${name}`);
  const database = await makeDatabase();
  grantsMayDangle(database);
  const child = await ChildService.start(database);
  const callers = await hostileWorld(await database.open(serviceTables), child.anonymous);
  const run = { baseUrl: child.anonymous.baseUrl, callers, seed };
  await runHostile({ ...run, count: WARM_UP });
  const before = memoryMb(child.process.pid!, 'VmRSS');
  const statuses = await runHostile({ ...run, seed: seed + WARM_UP, count });
  const after = memoryMb(child.process.pid!, 'VmRSS');
  print(name, { before, after, statuses });
  expect(after).toBeLessThan(before * GROWTH);
  expect((await child.as().get('/system/dept-api?limit=1')).status).toBe(200);
  expect(child.printed).not.toMatch(/"level":(50|60)/);
  expect(await runCli(database, ['doctor'])).toMatchObject({ code: 0 });
  expect(await child.stop()).toBe(0);
  await database.drop();
});
