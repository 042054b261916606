import { parseDatabaseUrl } from '../../src/config/database-url';
import { createDataSource } from '../../src/database/data-source';
import type { DataSource } from 'typeorm';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/user/account.entity';
import type { ThrowAwayDatabase } from '../../src/testing';
import { ChildService } from '../support/child-service';
import { emptyDatabase, onMariadb } from '../support/test-database';

describe('the schema', () => {
  let database: ThrowAwayDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await emptyDatabase();
    dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('after all migrations is exactly what the entities say', async () => {
    await dataSource.runMigrations();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('can be taken back, migration by migration, and built again', async () => {
    const { length } = await dataSource.runMigrations();
    for (let n = 0; n < length; n += 1) await dataSource.undoLastMigration();
    expect(await dataSource.runMigrations()).toHaveLength(length);
  });

  it('holds every character and tells emoji apart, whatever the server defaults to', async () => {
    await dataSource.runMigrations();
    const { manager } = dataSource;
    await manager.update(TenantEntity, { tenantId: '000000' }, { tenantName: '😀部门' });
    expect(await manager.existsBy(TenantEntity, { tenantName: '😀部门' })).toBe(true);
    expect(await manager.existsBy(TenantEntity, { tenantName: '😁部门' })).toBe(false);
  });

  it('is used in the modes that the writes rely on', async () => {
    if (onMariadb) {
      expect(await dataSource.query('SELECT @@tx_isolation AS level')).toEqual([{ level: 'READ-COMMITTED' }]);
      return;
    }
    const runner = dataSource.createQueryRunner();
    expect(await runner.query('PRAGMA journal_mode')).toMatchObject([{ journal_mode: 'wal' }]);
    expect(await runner.query('PRAGMA foreign_keys')).toMatchObject([{ foreign_keys: 1 }]);
    expect(await runner.query('PRAGMA synchronous')).toMatchObject([{ synchronous: 2 }]);
    await runner.release();
  });
});

describe('replicas that start together on an empty database', () => {
  it('migrate once, make one first administrator, and all become ready', async () => {
    const database = await emptyDatabase();
    const services = await Promise.all(Array.from({ length: 4 }, () => ChildService.start(database)));
    const dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
    expect(await dataSource.manager.count(AccountEntity)).toBe(1);
    expect(await dataSource.manager.count(TenantEntity)).toBe(1);
    await dataSource.destroy();
    expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0, 0, 0]);
    await database.drop();
  });
});
