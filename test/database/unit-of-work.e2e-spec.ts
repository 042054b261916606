import type { EntityManager, QueryRunner } from 'typeorm';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { limitSilence } from '../../src/database/silence-limit';
import { dialectOf } from '../../src/database/dialects';
import { faultOf } from '../../src/database/retry-policy';
import { SqliteConnection } from '../../src/database/sqlite/sqlite.connection';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { TenantryDept } from '../../src/dept/dept.entity';
import { Meter } from '../../src/database/meter';
import { TenantryModule, TenantryTransaction } from '../../src/index';
import { raiseTreeVersion } from '../../src/journal/tree-lock';
import { aDept, type Answer, type ThrowAwayDatabase } from '../../src/server/testing';
import { nextCommits } from '../support/commit-faults';
import { isWaitingForLock } from '../support/lock-waits';
import { HeaderResolver, Host, hostDataSource, system } from '../support/host';
import { expectRefused } from '../support/refusals';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { TcpProxy } from '../support/tcp-proxy';
import { emptyDatabase, onInnodb, onMysql, onPostgres, onServer } from '../support/test-database';
import { until } from '../support/until';

const PATH = '/system/dept-api';
/** Longer than a busy machine needs; the service itself has 10 s. */
const ROOMY_MS = 60_000;
const named = (service: ServiceUnderTest, deptName: string) =>
  service.dataSource.manager.countBy(TenantryDept, { deptName });

if (onServer) {
  describe('a unit of work on a session of a host', () => {
    const ONE_CONNECTION = { extra: onPostgres ? { max: 1 } : { connectionLimit: 1 } };
    const OWN_WAITS = onPostgres
      ? "SET lock_timeout = '40s'"
      : 'SET SESSION innodb_lock_wait_timeout = 40, SESSION lock_wait_timeout = 41';
    const WAITS = onPostgres
      ? "SELECT current_setting('lock_timeout') AS wait"
      : "SELECT CONCAT(@@innodb_lock_wait_timeout, ' ', @@lock_wait_timeout) AS wait";
    const [OWN, OF_UNIT] = onPostgres ? ['40s', '1s'] : ['40 41', '1 1'];
    let host: Host;
    let rival: QueryRunner;

    beforeAll(async () => {
      const tenantry = TenantryModule.forRoot({
        principalResolver: new HeaderResolver(),
        userDirectory: 'none',
      });
      host = await Host.start({ imports: [tenantry] }, { options: ONE_CONNECTION });
      await host.dataSource.query(OWN_WAITS);
      rival = (await hostDataSource(host.database.url).initialize()).createQueryRunner();
    });
    afterAll(async () => {
      await rival.release();
      await rival.dataSource.destroy();
      await host.stop();
    });

    const waits = async (manager: EntityManager = host.dataSource.manager) =>
      (await manager.query<{ wait: string }[]>(WAITS))[0]?.wait;

    it('a unit of work waits a second for a lock, and leaves the session as the host has set it up', async () => {
      const transaction = host.app.get(TenantryTransaction);
      // Begun together: the second gets the connection from the first.
      const [inside, after] = await Promise.all([
        transaction.run(system(), ({ manager }) => waits(manager)),
        waits(),
      ]);
      expect([inside, after, await waits()]).toEqual([OF_UNIT, OWN, OWN]);
      const failing = transaction.run(system(), ({ manager }) =>
        manager.query('SELECT nothing FROM nowhere'),
      );
      await expect(failing).rejects.toThrow('nowhere');
      expect(await waits()).toBe(OWN);
    });

    it('a write ends with 503 while the host itself holds a table', async () => {
      await rival.startTransaction();
      await rival.query(onPostgres ? 'LOCK TABLE tenantry_dept' : 'LOCK TABLES tenantry_dept WRITE');
      expectRefused(await host.as().post(PATH, {}), 503, 'DATABASE_UNAVAILABLE');
      expect(await waits()).toBe(OWN);
      await rival.rollbackTransaction();
      if (!onPostgres) await rival.query('UNLOCK TABLES');
      expect((await host.as().post(PATH, {})).status).toBe(200);
      expect(await waits()).toBe(OWN);
    });
  });

  describe('a unit of work on a server that fails', () => {
    let service: ServiceUnderTest;
    let proxy: TcpProxy;
    let database: ThrowAwayDatabase;

    beforeAll(async () => {
      database = await emptyDatabase();
      const through = await TcpProxy.before(database.url);
      proxy = through.proxy;
      // As by default: of many writes of one tenant, those who do not come in are refused like those who do.
      service = await ServiceUnderTest.on({ ...database, url: through.url }, { MAX_WAIT_MS: '2000' });
      limitSilence(service.dataSource, ROOMY_MS);
    });
    afterEach(() => {
      proxy.frozen = false;
      proxy.open = true;
    });
    afterAll(async () => {
      await service.stop();
      await proxy.close();
    });

    const isLockAwaited = (): Promise<boolean> => isWaitingForLock(service.dataSource);

    it('a unit of work is replayed when the connection breaks before COMMIT arrives', async () => {
      for (let n = 0; n < 10; n += 1) {
        proxy.fault = 'cut-before';
        expect((await service.as().post(PATH, { deptName: `before ${n}` })).status).toBe(200);
        expect(await named(service, `before ${n}`)).toBe(1);
      }
      expect(proxy.struck).toBe(10);
    });

    it('a unit of work is not done twice when the answer to COMMIT is lost, and the answer names the right department', async () => {
      for (let n = 0; n < 20; n += 1) {
        proxy.fault = 'cut-after';
        const answer = await service.as().post(PATH, { deptName: `after ${n}` });
        expect(answer.status).toBe(200);
        expect(await named(service, `after ${n}`)).toBe(1);
        const made = (await service.as().get(answer.headers.location!)).body.data;
        expect(made).toMatchObject({ deptName: `after ${n}` });
      }
      expect(proxy.struck).toBe(30);
    });

    /** How often a unit is tried whose first try does this. */
    async function triesOf(first: (manager: EntityManager) => Promise<void>): Promise<number> {
      let tries = 0;
      await service.app.get(UnitOfWork, { strict: false }).run(
        '000000',
        (unit) => raiseTreeVersion(unit, '000000'),
        async ({ manager }) => {
          tries += 1;
          if (tries === 1) await first(manager);
        },
      );
      return tries;
    }

    it('a unit of work is replayed when the server ends its session before COMMIT', async () => {
      const [ownId, end] = onPostgres
        ? ['SELECT pg_backend_pid() AS id', 'SELECT pg_terminate_backend(?)']
        : ['SELECT CONNECTION_ID() AS id', 'KILL ?'];
      const tries = await triesOf(async (manager) => {
        const [{ id } = { id: '' }] = await manager.query<{ id: string }[]>(ownId);
        await service.dataSource.query(end.replace('?', id));
        // TypeORM releases a runner when pg has heard that its connection is closed.
        if (onPostgres) await until(() => manager.queryRunner!.isReleased);
      });
      expect(tries).toBe(2);
    });

    it('a unit of work is replayed when the server cancels a statement that takes too long', async () => {
      const MANY = 'information_schema.collations';
      const hint = 'SELECT /*+ MAX_EXECUTION_TIME(20) */';
      const limited = onMysql ? hint : 'SET STATEMENT max_statement_time = 0.02 FOR SELECT';
      const slow = onPostgres
        ? ["SET LOCAL statement_timeout = '20ms'", 'SELECT pg_sleep(20)']
        : [`${limited} COUNT(*) FROM ${['a', 'b', 'c', 'd'].map((name) => `${MANY} ${name}`).join()}`];
      const tries = await triesOf(async (manager) => {
        for (const sql of slow) await manager.query(sql);
      });
      expect(tries).toBe(2);
    });

    it('a unit of work is replayed when the table of a prepared statement was altered', async () => {
      const api = service.as();
      const deptId = await aDept(api);
      const change = async (leader: string) => (await api.patch(`${PATH}/${deptId}`, { leader })).status;
      expect(await change('before')).toBe(200);
      const dialect = dialectOf(service.dataSource);
      for (const type of ['varchar(65)', 'varchar(64)']) {
        await service.dataSource.query(dialect.changeType('tenantry_dept', 'leader', type)!);
        // More than once: it must not stay so on any connection.
        for (let n = 0; n < 3; n += 1) expect([type, await change(`after ${n}`)]).toEqual([type, 200]);
      }
    });

    if (onPostgres)
      it('a unit of work is replayed when the server has forgotten the statements that were prepared', async () => {
        const api = service.as();
        const deptId = await aDept(api);
        for (let n = 0; n < 3; n += 1) {
          // As the reset of a connection pooler does.
          await service.dataSource.query('DEALLOCATE ALL');
          expect((await api.patch(`${PATH}/${deptId}`, { leader: `${n}` })).status).toBe(200);
        }
      });

    it('a unit of work is replayed after a deadlock', async () => {
      const api = service.as();
      const deptId = await aDept(api);
      // A transaction that takes the department first and the tenant second: the other way round than a unit.
      const rival = service.dataSource.createQueryRunner();
      await rival.startTransaction();
      // PostgreSQL ends the one that looks for a deadlock first, so this one does not look.
      const patience = "SET lock_timeout = '5s'; SET deadlock_timeout = '10s'";
      await rival.query(onPostgres ? patience : 'SET SESSION innodb_lock_wait_timeout = 5');
      await rival.query(`UPDATE tenantry_dept SET order_num = 1 WHERE dept_id = ${deptId}`);
      // Much written work makes InnoDB choose the other one as its victim.
      if (onInnodb) {
        const rows = Array.from({ length: 2000 }, (_, n) => `('x${n}', NOW())`);
        await rival.query(`INSERT INTO tenantry_unit (unit_id, created_at) VALUES ${rows.join()}`);
      }
      const update = api.put(PATH, { deptId, deptName: 'after the deadlock' });
      await until(isLockAwaited);
      await rival.query("UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = '000000'");
      await rival.commitTransaction();
      // As it was: the next one to get this connection would wait as long.
      const before = 'RESET lock_timeout; RESET deadlock_timeout';
      await rival.query(onPostgres ? before : 'SET SESSION innodb_lock_wait_timeout = 1');
      await rival.release();
      expect((await update).status).toBe(200);
      expect(await named(service, 'after the deadlock')).toBe(1);
    });

    describe('while another session holds the tenant', () => {
      async function holding(): Promise<() => Promise<void>> {
        const rival = service.dataSource.createQueryRunner();
        await rival.startTransaction();
        await rival.query("UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = '000000'");
        return async () => {
          await rival.commitTransaction();
          await rival.release();
        };
      }

      it('a unit of work is replayed after a lock wait that was in vain', async () => {
        const letGo = await holding();
        const retried = jest.spyOn(service.app.get(Meter), 'unitRetried');
        const write = service.as().post(PATH, { deptName: 'replayed' });
        await until(() => retried.mock.calls.length > 0);
        await letGo();
        retried.mockRestore();
        expect((await write).status).toBe(200);
        expect(await named(service, 'replayed')).toBe(1);
      });

      it('a write ends with 503 while another session holds its tenant, and leaves other tenants alone', async () => {
        const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
        const deptId = await aDept(other);
        const letGo = await holding();
        const writes = Promise.all(Array.from({ length: 30 }, () => service.as().post(PATH, {})));
        await until(isLockAwaited);
        expect((await other.get(`${PATH}/${deptId}`)).status).toBe(200);
        expect((await other.post(PATH, {})).status).toBe(200);
        expect(new Set((await writes).map(({ status }) => status))).toEqual(new Set([503]));
        await letGo();
        expect(service.log.join('')).toContain('gave up on the database');
      });
    });

    it('requests end with 503 when the server hangs, and work when it is back', async () => {
      const api = service.as();
      const deptId = await aDept(api);
      const read = () => api.get(`${PATH}/${deptId}`);
      limitSilence(service.dataSource, 300);
      proxy.frozen = true;
      const answers = await Promise.all([api.post(PATH, { deptName: 'hung' }), read()]);
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      expect((await read()).refusal.reason).toBe('DATABASE_UNAVAILABLE');
      const ready = await service.anonymous.get('/health/ready');
      expect([ready.status, JSON.parse(ready.text)]).toMatchObject([503, { checks: { database: 'down' } }]);
      proxy.frozen = false;
      limitSilence(service.dataSource, ROOMY_MS);
      await until(async () => (await read()).status === 200);
      expect((await service.anonymous.get('/health/ready')).status).toBe(200);
      expect(await named(service, 'hung')).toBe(0);
    });

    it('requests end with 503 when no connection becomes free', async () => {
      const api = service.as();
      const deptId = await aDept(api);
      const runners = Array.from({ length: 20 }, () => service.dataSource.createQueryRunner());
      await Promise.all(runners.map((runner) => runner.connect()));
      const answers = await Promise.all([api.post(PATH, {}), api.get(`${PATH}/${deptId}`)]);
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      await Promise.all(runners.map((runner) => runner.release()));
      expect((await api.get(`${PATH}/${deptId}`)).status).toBe(200);
    });

    it('the pool tells how many connections are used, idle and waited for', async () => {
      // They are read from private parts of mysql2 and TypeORM (src/database/): a new version may have others.
      const state = () => dialectOf(service.dataSource).poolState(service.dataSource);
      const { limit } = state();
      const runners = Array.from({ length: limit + 1 }, () => service.dataSource.createQueryRunner());
      const connecting = runners.map((runner) => runner.connect());
      await Promise.all(connecting.slice(0, limit));
      expect(state()).toEqual({ limit: 20, used: 20, idle: 0, waiting: 1 });
      await runners[0]!.release();
      await Promise.all(connecting);
      await Promise.all(runners.map((runner) => runner.release()));
      expect(state()).toEqual({ limit: 20, used: 0, idle: 20, waiting: 0 });
    });

    // A socket is closed for its silence: the driver has not heard of it yet.
    const close = onPostgres
      ? {
          connection: (client: Client) => client.end(),
          socket: (client: { connection: { stream: Socket } }) => client.connection.stream.destroy(),
        }
      : {
          connection: (connection: Socket) => connection.destroy(),
          socket: (connection: { stream: Socket }) => connection.stream.destroy(),
        };

    it.each(['connection', 'socket'] as const)(
      'a statement on a %s that is closed counts as lost, and is tried again',
      async (which) => {
        const runner = service.dataSource.createQueryRunner();
        await close[which]((await runner.connect()) as never);
        // Most of these errors have no code: they are known by their text, which a new version of the driver may change.
        expect(faultOf(await runner.query('SELECT 1').catch((error: unknown) => error))).toBe('lost');
        await runner.release();
      },
    );

    it('an import goes on for as long as its statements are answered, and a connection that is silent is cut', async () => {
      const api = service.as({ tenantId: await aTenantRow(service.dataSource) });
      const names = Array.from({ length: 500 }, (_, n) => `${n} ${'x'.repeat(59)}`);
      const file = names.map((path) => JSON.stringify({ path })).join('\n');
      const send = () => api.send('POST', `${PATH}/import`, file, { 'content-type': 'application/x-ndjson' });
      const server: Server = service.app.getHttpServer();
      const { timeout } = server;
      limitSilence(service.dataSource, 1000);
      server.timeout = 1000;
      try {
        // Thirty statements at least, of 40 ms each.
        proxy.delay = 40;
        const answer = await send();
        expect([answer.status, answer.body.data]).toMatchObject([200, { created: 500 }]);
        proxy.delay = 0;
        server.timeout = timeout;
        proxy.fault = 'hang-after';
        expect((await api.post(PATH, { deptName: 'cut at COMMIT' })).status).toBe(200);
        expect(await named(service, 'cut at COMMIT')).toBe(1);
      } finally {
        proxy.delay = 0;
        limitSilence(service.dataSource, ROOMY_MS);
        server.timeout = timeout;
      }
    });

    it('reads and writes end with 503 when the server stays away, and work when it is back', async () => {
      const api = service.as();
      const deptId = await aDept(api);
      proxy.open = false;
      const answers = await Promise.all([
        api.post(PATH, { deptName: 'nowhere' }),
        api.get(`${PATH}/${deptId}`),
      ]);
      for (const answer of answers) {
        expectRefused(answer, 503, 'DATABASE_UNAVAILABLE');
        expect(answer.headers['retry-after']).toBe('1');
      }
      const ready = await service.anonymous.get('/health/ready');
      expect([ready.status, JSON.parse(ready.text)]).toEqual([
        503,
        { status: 'unready', checks: { database: 'down', migrations: 'unknown' } },
      ]);
      proxy.open = true;
      expect((await api.post(PATH, { deptName: 'back' })).status).toBe(200);
      expect((await service.anonymous.get('/health/ready')).status).toBe(200);
      expect(await named(service, 'nowhere')).toBe(0);
    });

    // The last one: a second service in this process takes the log over.
    it('a request with a key never takes the commit of an equal request for its own, nor that of another body', async () => {
      const direct = await ServiceUnderTest.on(database);
      for (let n = 0; n < 10; n += 1) {
        const headers = { 'idempotency-key': `lost ${n}` };
        const bodies = [{ deptName: `mine ${n}` }, { deptName: n % 2 ? `mine ${n}` : `theirs ${n}` }];
        let rival: Promise<Answer> | undefined;
        // It waits for the lock of the one whose connection is about to be cut, and so comes next.
        proxy.beforeCut = () => {
          rival = direct.as().post(PATH, bodies[1], headers);
          return until(isLockAwaited);
        };
        proxy.fault = 'cut-before';
        const answers = [await service.as().post(PATH, bodies[0], headers), await rival!];
        expect(answers.map(({ status }) => status)).toEqual([n % 2 ? 200 : 422, 200]);
        for (const [index, { status, headers: told }] of answers.entries()) {
          if (status !== 200) continue;
          expect((await service.as().get(told.location!)).body.data).toMatchObject(bodies[index]!);
        }
        expect((await named(service, `mine ${n}`)) + (await named(service, `theirs ${n}`))).toBe(1);
      }
      proxy.beforeCut = null;
      await direct.leave();
    });
  });
} else {
  describe('a unit of work on a file that another process writes to', () => {
    let service: ServiceUnderTest;
    let rival: SqliteConnection;

    beforeAll(async () => {
      service = await ServiceUnderTest.start();
      rival = new SqliteConnection(service.dataSource.options.database as string);
    });
    afterAll(async () => {
      rival.close();
      await service.stop();
    });

    it('a write waits for another process that writes to the file, and reads go on', async () => {
      const api = service.as();
      const deptId = await aDept(api);
      const retried = jest.spyOn(service.app.get(Meter), 'unitRetried');
      rival.exec('BEGIN IMMEDIATE');
      const write = api.post(PATH, { deptName: 'patient' });
      for (let n = 1; n < 5; n += 1) {
        await until(() => retried.mock.calls.length >= n);
        expect((await api.get(`${PATH}/${deptId}`)).status).toBe(200);
      }
      rival.exec('COMMIT');
      retried.mockRestore();
      expect((await write).status).toBe(200);
      expect(await named(service, 'patient')).toBe(1);
    });

    it('a write ends with 503 when another process does not finish, and nothing was written', async () => {
      rival.exec('BEGIN IMMEDIATE');
      const answer = await service.as().post(PATH, { deptName: 'impatient' });
      rival.exec('COMMIT');
      expectRefused(answer, 503, 'DATABASE_UNAVAILABLE');
      expect(await named(service, 'impatient')).toBe(0);
    });
  });
}

describe('a unit of work whose COMMIT is not answered before its time is over', () => {
  it('a COMMIT that is answered after the time is over is told as what it is: done', async () => {
    const service = await ServiceUnderTest.start();
    const late = jest.spyOn(Date, 'now');
    nextCommits(service.dataSource, 'unheard');
    const create = service.dataSource.createQueryRunner.bind(service.dataSource);
    service.dataSource.createQueryRunner = (mode) => {
      const runner = create(mode);
      const commit = runner.commitTransaction.bind(runner);
      runner.commitTransaction = () =>
        commit().catch((error: unknown) => {
          late.mockReturnValue(new Date().getTime() + 10_000);
          throw error;
        });
      return runner;
    };
    const answer = await service.as().post(PATH, { deptName: 'late' });
    late.mockRestore();
    expect([answer.status, await named(service, 'late')]).toEqual([200, 1]);
    await service.stop();
  });
});
