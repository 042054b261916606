import { setImmediate as turn } from 'node:timers/promises';
import { createConnection, type Connection } from 'mysql2/promise';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { createServiceDataSource, migrate } from '../../src/server/service-data-source';
import { takeMigrationLease } from '../../src/database/mysql/migration-lease';
import type { DataSource, QueryRunner } from 'typeorm';
import { TenantryCommit } from '../../src/database/commit-log';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { schemaChanges } from '../support/schema-changes';
import { emptyDatabase, onInnodb, onMysql, onPostgres } from '../support/test-database';
import { until } from '../support/until';

const RECORDED = [
  'Settings1763164800010',
  'FailedSignIns1763164800011',
  'UsernameKeys1763164800012',
  'LongerUnitResults1763164800013',
  'DropDerivedTables1763164800015',
  'Journal1763164800016',
  'Subscriptions1763164800017',
  'Quotas1763164800018',
  'WebhookSecrets1763164800019',
  'DeletedSubtrees1763164800021',
];

async function undoUntil(dataSource: DataSource, name: string): Promise<void> {
  const isDone = async () => {
    const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM tenantry_migrations');
    return rows.some((row) => row.name === name);
  };
  while (await isDone()) await dataSource.undoLastMigration();
}

/** What MySQL commits by itself, and the record that a migration is done. */
const COMMITTED = /^(CREATE|ALTER|DROP) |^INSERT INTO \S*tenantry_migrations/;

/** Lets migrations die before they begin one more such statement than they may, or after the last that they may. */
async function dies(dataSource: DataSource, when: 'before' | 'after', may: number): Promise<boolean> {
  const runner = dataSource.createQueryRunner();
  const of = Object.getPrototypeOf(runner) as QueryRunner;
  const query = Reflect.get(of, 'query') as (...given: unknown[]) => Promise<unknown>;
  let run = 0;
  const spy = jest.spyOn(of, 'query').mockImplementation(async function (this: QueryRunner, sql, ...more) {
    const isCounted = COMMITTED.test(sql);
    if (isCounted && when === 'before' && run === may) throw new Error('died');
    const result = await query.call(this, sql, ...more);
    if (isCounted && ++run === may && when === 'after') throw new Error('died');
    return result;
  });
  try {
    await migrate(dataSource);
    return false;
  } catch (error) {
    if ((error as Error).message !== 'died') throw error;
    return true;
  } finally {
    spy.mockRestore();
    await runner.release();
  }
}

describe('the schema', () => {
  let database: ThrowAwayDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await emptyDatabase();
    dataSource = await (await createServiceDataSource(parseDatabaseUrl(database.url))).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('the schema after all migrations is exactly what the entities say', async () => {
    const run = await dataSource.runMigrations();
    // Databases of earlier versions have recorded these names; new ones come after them.
    expect(run.map(({ name }) => name).slice(0, RECORDED.length)).toEqual(RECORDED);
    expect(await schemaChanges(dataSource)).toEqual([]);
  });

  it('the schema can be taken back, migration by migration, and built again', async () => {
    const { length } = await dataSource.runMigrations();
    for (let n = 0; n < length; n += 1) await dataSource.undoLastMigration();
    expect(await dataSource.runMigrations()).toHaveLength(length);
  });

  it('migrations say what to do where tables are there that no migration has made', async () => {
    await dataSource.runMigrations();
    await dataSource.query('DELETE FROM tenantry_migrations');
    await expect(dataSource.runMigrations()).rejects.toThrow(
      'drop all tables whose names begin with tenantry_',
    );
  });

  it('a first migration that was interrupted between two tables is completed', async () => {
    const { length } = await dataSource.runMigrations();
    await undoUntil(dataSource, 'FailedSignIns1763164800011');
    await dataSource.query('DELETE FROM tenantry_migrations');
    await dataSource.query('DROP TABLE tenantry_session');
    expect(await dataSource.runMigrations()).toHaveLength(length);
    expect(await dataSource.manager.count(TenantryTenant)).toBe(1);
    expect(await schemaChanges(dataSource)).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    'migrations that die %s any statement go on where they stopped',
    async (when) => {
      // InnoDB keeps what each statement did. A change of a type is done again, so one statement at a time would never get past it.
      // The others roll a migration back: they only get further when more statements may run.
      for (let may = 1; await dies(dataSource, when, may);) may = onInnodb ? 3 - may : may * 4;
      expect(await schemaChanges(dataSource)).toEqual([]);
      const counts = ['tenantry_tenant', 'tenantry_change', 'tenantry_quota'].map((table) =>
        dataSource.query<{ count: number | string }[]>(`SELECT COUNT(*) AS count FROM ${table}`),
      );
      expect((await Promise.all(counts)).map(([row]) => Number(row?.count))).toEqual([1, 1, 6]);
    },
  );

  it('a migration keeps the answers that version 0.1 has stored, and gives up those that are too long for it', async () => {
    await dataSource.runMigrations();
    const { manager } = dataSource;
    const answers = async () =>
      Object.fromEntries((await manager.find(TenantryCommit)).map(({ unitId, result }) => [unitId, result]));
    const add = (unitId: string, result: string | null) =>
      manager.insert(TenantryCommit, { unitId, createdAt: new Date(), bodyHash: 'h', result });
    const old = { long: 'x'.repeat(255), number: '7', none: null };
    const fresh = { longer: 'x'.repeat(65_536), chinese: '{"name":"研发部"}' };

    await undoUntil(dataSource, 'LongerUnitResults1763164800013');
    for (const [unitId, result] of Object.entries(old)) await add(unitId, result);
    await dataSource.runMigrations();
    expect(await answers()).toEqual(old);
    for (const [unitId, result] of Object.entries(fresh)) await add(unitId, result);
    expect(await answers()).toEqual({ ...old, ...fresh });

    await undoUntil(dataSource, 'LongerUnitResults1763164800013');
    expect(await answers()).toMatchObject(old);
  });

  it('answers that are kept for repeated requests hold no secret of a webhook', async () => {
    await dataSource.runMigrations();
    await undoUntil(dataSource, 'WebhookSecrets1763164800019');
    const kept = { hook: '{"id":7,"secret":"whsec_MfKQ9r8GKYqrTwjUPD8I"}', dept: '7', none: null };
    for (const [unitId, result] of Object.entries(kept))
      await dataSource.manager.insert(TenantryCommit, {
        unitId,
        createdAt: new Date(),
        bodyHash: 'h',
        result,
      });
    await dataSource.runMigrations();
    const records = await dataSource.manager.find(TenantryCommit);
    const results = Object.fromEntries(records.map(({ unitId, result }) => [unitId, result]));
    expect(results).toEqual({ ...kept, hook: '{"id":7}' });
  });

  it('the tables hold every character and tell emoji apart, whatever the server defaults to', async () => {
    await dataSource.runMigrations();
    const { manager } = dataSource;
    await manager.update(TenantryTenant, { tenantId: '000000' }, { tenantName: '😀部门' });
    expect(await manager.existsBy(TenantryTenant, { tenantName: '😀部门' })).toBe(true);
    expect(await manager.existsBy(TenantryTenant, { tenantName: '😁部门' })).toBe(false);
  });

  it('the tables hold times in UTC, whatever the zone of the server', async () => {
    await dataSource.runMigrations();
    const { createTime } = await dataSource.manager.findOneByOrFail(TenantryTenant, { tenantId: '000000' });
    expect(Math.abs(createTime.getTime() - Date.now())).toBeLessThan(60 * 60_000);
  });

  it('sessions of the service have the modes that its writes rely on', async () => {
    if (onPostgres) {
      expect(await dataSource.query('SHOW transaction_isolation')).toEqual([
        { transaction_isolation: 'read committed' },
      ]);
      expect(await dataSource.query('SHOW TimeZone')).toEqual([{ TimeZone: 'UTC' }]);
      return;
    }
    if (onInnodb) {
      const variable = onMysql ? 'transaction_isolation' : 'tx_isolation';
      expect(await dataSource.query(`SELECT @@${variable} AS level`)).toEqual([{ level: 'READ-COMMITTED' }]);
      return;
    }
    const runner = dataSource.createQueryRunner();
    expect(await runner.query('PRAGMA journal_mode')).toMatchObject([{ journal_mode: 'wal' }]);
    expect(await runner.query('PRAGMA foreign_keys')).toMatchObject([{ foreign_keys: 1 }]);
    expect(await runner.query('PRAGMA synchronous')).toMatchObject([{ synchronous: 2 }]);
    await runner.release();
  });
});

if (onInnodb) {
  describe('the lease that keeps nodes of a cluster apart', () => {
    let database: ThrowAwayDatabase;
    let connections: Connection[];

    beforeAll(async () => {
      database = await emptyDatabase();
      connections = await Promise.all(Array.from({ length: 5 }, () => createConnection(database.url)));
    });
    afterAll(async () => {
      await Promise.all(connections.map((connection) => connection.end()));
      await database.drop();
    });

    it('the lease of migrations is held by one at a time', async () => {
      const inside = { now: 0, most: 0, ever: 0 };
      await Promise.all(
        connections.map(async (connection, n) => {
          const giveBack = await takeMigrationLease(connection, `holder ${n}`);
          inside.now += 1;
          inside.ever += 1;
          inside.most = Math.max(inside.most, inside.now);
          await turn();
          inside.now -= 1;
          await giveBack();
        }),
      );
      expect(inside).toEqual({ now: 0, most: 1, ever: 5 });
    });

    it('the lease of migrations goes on to the next when its holder is dead', async () => {
      await takeMigrationLease(connections[0]!, 'dead');
      const tried = jest.spyOn(connections[1]!, 'query') as jest.SpyInstance<unknown, unknown[]>;
      let isTaken = false;
      const next = takeMigrationLease(connections[1]!, 'next');
      void next.then(() => (isTaken = true));
      // Two statements before its first try to take it, and then one for each.
      await until(() => tried.mock.calls.length > 3);
      expect(isTaken).toBe(false);
      await connections[2]!.query("UPDATE tenantry_start_lease SET until_time = '2001-01-01'");
      await (
        await next
      )();
    });
  });
}
