import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Table } from 'typeorm';
import {
  TenantryDept,
  DeptService,
  Doctor,
  entities,
  tenantBoundToken,
  TenantryTenant,
  migrations,
  SqliteDataSource,
  TenantryModule,
  type TenantBoundRepository,
  type TenantOwned,
} from '../../src/index';
import { serviceTables } from '../../src/server/service-data-source';
import { aDept, type Answer, ApiClient, aTenant } from '../../src/server/testing';
import { HeaderResolver, system } from '../support/host';
import { runCli } from '../support/run-cli';
import { schemaChanges } from '../support/schema-changes';
import { emptyDatabase, onInnodb, onMariadb, onPostgres, onServer } from '../support/test-database';

/** As the embedding guide shows it: a bigint as it arrives, and one that is made a number. */
@Entity('host_budget')
class BudgetEntity implements TenantOwned {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 20, ...(onInnodb && { charset: 'ascii', collation: 'ascii_bin' }) })
  tenantId!: string;
  @Column({ type: 'bigint' }) plain!: string | number;
  @Column({ type: 'bigint', transformer: { to: (id: number) => id, from: Number } }) deptId!: number;
  @ManyToOne(() => TenantryDept) @JoinColumn({ name: 'deptId' }) dept?: TenantryDept;
  @ManyToOne(() => TenantryTenant)
  @JoinColumn({ name: 'tenantId', referencedColumnName: 'tenantId' })
  tenant?: TenantryTenant;
}

/** Without a column of its own for the relation: it gets the type of the department's key. */
@Entity('host_lease')
class LeaseEntity {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => TenantryDept) dept?: TenantryDept;
}

const DEPTS = '/system/dept-api';

@Module({})
class HostModule {}

interface Kind {
  readonly type: 'mysql' | 'mariadb' | 'postgres' | 'better-sqlite3';
  readonly schema?: string;
}

const KINDS: readonly Kind[] = onInnodb
  ? [{ type: 'mysql' }, { type: 'mariadb' }]
  : onPostgres
    ? [{ type: 'postgres' }, { type: 'postgres', schema: 'org' }]
    : [{ type: 'better-sqlite3' }];

describe.each(KINDS)("a host's own schema: %p", ({ type, schema }) => {
  /** The list of hosts used to have the migrations that are the service's now; together they make the same tables. */
  const EARLIER_MIGRATIONS = [...migrations, ...serviceTables.migrations];
  const ACCOUNTS = ['tenantry_account', 'tenantry_session', 'tenantry_failed_sign_in'];

  async function open(
    url: string,
    tables: (new () => object)[] = [],
    list: typeof EARLIER_MIGRATIONS = migrations,
    more: object = {},
  ): Promise<DataSource> {
    const options = {
      entities: [...entities, ...tables],
      migrations: list,
      migrationsTableName: 'host_migrations',
      ...more,
    };
    const dataSource =
      type === 'better-sqlite3'
        ? new SqliteDataSource({ database: url.slice('sqlite:'.length), ...options })
        : new DataSource({
            type,
            url,
            ...(type === 'postgres' && { schema }),
            ...options,
          });
    await dataSource.initialize();
    if (schema !== undefined) await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await dataSource.runMigrations();
    return dataSource;
  }

  const qualified = (table: string) => (schema === undefined ? table : `${schema}.${table}`);

  /** What `typeorm migration:generate` writes into its file. */
  async function changesOf(dataSource: DataSource): Promise<string[]> {
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    return upQueries.map(({ query }) => query);
  }

  async function accountTables(dataSource: DataSource): Promise<string[]> {
    const runner = dataSource.createQueryRunner();
    const found = await runner.getTables(ACCOUNTS.map(qualified));
    await runner.release();
    return found.map(({ name }) => name.split('.').at(-1)!);
  }
  it("a schema of a host needs no migration after those of Tenantry, which stand in the host's own table of migrations", async () => {
    const database = await emptyDatabase();
    const dataSource = await open(database.url);
    expect(await changesOf(dataSource)).toEqual([]);
    expect(await dataSource.query(`SELECT name FROM ${qualified('host_migrations')}`)).toHaveLength(
      migrations.length,
    );
    expect(await accountTables(dataSource)).toEqual([]);
    await dataSource.destroy();
    await database.drop();
  });

  it('a schema of a host keeps the tables of accounts that earlier versions made there, and what is in them', async () => {
    const database = await emptyDatabase();
    const before = await open(database.url, [], EARLIER_MIGRATIONS);
    const failures = qualified('tenantry_failed_sign_in');
    const columns = 'attempt_id, account_hash, client, failed_at';
    await before.query(
      `INSERT INTO ${failures} (${columns}) VALUES ('1', 'hash', '127.0.0.1', '2026-01-01 00:00:00')`,
    );
    await before.destroy();

    const dataSource = await open(database.url);
    expect(await dataSource.query(`SELECT name FROM ${qualified('host_migrations')}`)).toHaveLength(
      EARLIER_MIGRATIONS.length,
    );
    expect(await changesOf(dataSource)).toEqual([]);
    expect((await accountTables(dataSource)).sort()).toEqual(ACCOUNTS.sort());
    expect(await dataSource.query(`SELECT attempt_id FROM ${failures}`)).toHaveLength(1);
    await dataSource.destroy();

    const app = await start(await open(database.url, [BudgetEntity]));
    const depts = app.get(DeptService, { strict: false });
    await depts.delete(system(), [await depts.create(system(), { deptName: 'a' })]);
    expect(await app.get(Doctor, { strict: false }).examine()).toMatchObject({ findings: [], notes: [] });
    await app.close();
    await database.drop();
  });

  if (onServer && schema === undefined)
    it("a schema of a host is synchronised, and Tenantry's tables stay as their migrations made them", async () => {
      const database = await emptyDatabase();
      const more = { synchronize: true, migrationsRun: true };
      for (const _ of ['made', 'found']) {
        const dataSource = await open(database.url, [BudgetEntity, LeaseEntity], migrations, more);
        const app = await start(dataSource);
        const deptId = await app.get(DeptService, { strict: false }).create(system(), { deptName: 'Sales' });
        await dataSource.manager.insert(BudgetEntity, { tenantId: '000000', plain: 1, deptId });
        await expect(
          dataSource.manager.insert(BudgetEntity, { tenantId: '000000', plain: 1, deptId: 99 }),
        ).rejects.toThrow(/foreign key/);
        // With `mysql`, TypeORM takes the default NULL of a column on a MariaDB server for a text.
        if (type === 'mariadb' || !onMariadb) expect(await schemaChanges(dataSource)).toEqual([]);
        await app.close();
      }
      await database.drop();
    });

  it("a relation that names a class by its text leads to the host's own entity, because Tenantry's have a prefix", async () => {
    @Entity('host_tenant')
    class TenantEntity {
      @PrimaryGeneratedColumn() id!: number;
    }
    @Entity('host_contract')
    class Contract {
      @PrimaryGeneratedColumn() id!: number;
      @ManyToOne('TenantEntity') tenant?: TenantEntity;
    }
    const database = await emptyDatabase();
    const dataSource = await open(database.url, [Contract, TenantEntity]);
    const [relation] = dataSource.getMetadata(Contract).relations;
    expect(relation!.inverseEntityMetadata.tableName).toBe('host_tenant');
    const names = dataSource.entityMetadatas.map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith('Tenantry')).sort()).toEqual(['Contract', 'TenantEntity']);
    await dataSource.destroy();
    await database.drop();
  });

  async function start(dataSource: DataSource): Promise<NestExpressApplication> {
    const typeorm = TypeOrmModule.forRootAsync({
      useFactory: () => dataSource.options,
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    const tenantry = TenantryModule.forRoot({
      principalResolver: new HeaderResolver(),
      userDirectory: 'none',
    });
    const imports = [typeorm, tenantry, TenantryModule.forFeature([BudgetEntity])];
    const app = await NestFactory.create<NestExpressApplication>(
      { module: HostModule, imports },
      { logger: false },
    );
    await app.listen(0, '127.0.0.1');
    return app;
  }

  it('a schema of a host has relations to departments and tenants; a bigint is a text on a server and a number on SQLite', async () => {
    const database = await emptyDatabase();
    const dataSource = await open(database.url, [BudgetEntity]);
    const runner = dataSource.createQueryRunner();
    await runner.createTable(Table.create(dataSource.getMetadata(BudgetEntity), dataSource.driver));
    await runner.release();
    const app = await start(dataSource);
    const deptId = await app.get(DeptService, { strict: false }).create(system(), { deptName: '研发部' });
    const budgets = app.get<TenantBoundRepository<BudgetEntity>>(tenantBoundToken(BudgetEntity), {
      strict: false,
    });
    await budgets.in(system()).insert({ plain: 7, deptId });
    const plain = onServer ? '7' : 7;
    expect(await budgets.in(system()).find({}, { limit: 1 })).toMatchObject([{ plain, deptId }]);
    const found = await dataSource.manager.find(BudgetEntity, { relations: { dept: true, tenant: true } });
    const related = { dept: { deptName: '研发部', orderNum: 0 }, tenant: { tenantId: '000000' } };
    expect(found).toMatchObject([{ plain, deptId, ...related }]);
    await app.close();
    await database.drop();
  });

  it('a schema of a host serves the operations, and is examined by the doctor', async () => {
    const database = await emptyDatabase();
    const app = await start(await open(database.url, [BudgetEntity]));
    const anonymous = new ApiClient(await app.getUrl());
    const api = anonymous.with({ 'x-tenant': '000000', 'x-user': 'u', 'x-roles': 'superadmin' });
    const done = async (answer: Promise<Answer>): Promise<unknown> => {
      const { status, text, body } = await answer;
      expect([status, text]).toEqual([200, text]);
      return body.data;
    };
    const [a, b] = [await aDept(api, { deptName: 'a' }), await aDept(api, { deptName: 'b' })];
    const c = await aDept(api, { deptName: 'c', parentId: a });
    await done(api.put(DEPTS, { deptId: a, parentId: b, deptName: 'a' }));
    await done(api.patch(`${DEPTS}/${c}`, { leader: 'x' }));
    for (const query of ['deptName=c', 'leader=x', `parentId=${a}`, 'status=0&leader=x'])
      expect(await done(api.get(`${DEPTS}?${query}`))).toMatchObject({
        rows: [{ deptId: c, hasChildren: false }],
      });
    expect(await done(api.get(`${DEPTS}/tree?deptName=c`))).toMatchObject({ rows: [{ deptId: b }] });
    const file = await api.get(`${DEPTS}/export?format=ndjson`);
    expect(file.text.trim().split('\n')).toHaveLength(3);
    const ndjson = { 'content-type': 'application/x-ndjson' };
    await done(
      api.send('POST', `${DEPTS}/import`, `${file.text}{"path":"b/new"}\n{"path":"b/new/er"}`, ndjson),
    );
    await done(api.delete(`${DEPTS}/${c}`));
    const tenant = await aTenant(api, { tenantName: 't' });
    expect(await done(api.get(`/system/tenant-api?tenantName=t`))).toMatchObject({
      rows: [{ id: tenant.id }],
    });
    await done(api.put('/system/tenant-api', { id: tenant.id, tenantName: 't2' }));
    await done(api.delete(`/system/tenant-api/${tenant.id}`));
    expect(await app.get(Doctor, { strict: false }).examine()).toMatchObject({ findings: [], notes: [] });
    const url = schema === undefined ? database.url : `${database.url}?schema=${schema}`;
    expect(await runCli({ ...database, url }, ['doctor'])).toMatchObject({
      code: 0,
      out: 'The database is sound.\n',
    });
    anonymous.close();
    await app.close();
    await database.drop();
  });
});
