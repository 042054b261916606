import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, Table } from 'typeorm';
import {
  entities,
  tenantBoundToken,
  migrations,
  SqliteDataSource,
  TenantryModule,
  type TenantBoundRepository,
  type TenantOwned,
} from '../../src/index';
import { HeaderResolver, system } from '../support/host';
import { emptyDatabase, onMariadb } from '../support/test-database';

/** As the embedding guide shows it: a bigint as it arrives, and one that is made a number. */
@Entity('host_budget')
class BudgetEntity implements TenantOwned {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 20 }) tenantId!: string;
  @Column({ type: 'bigint' }) plain!: string | number;
  @Column({ type: 'bigint', transformer: { to: (id: number) => id, from: Number } }) deptId!: number;
}

@Module({})
class HostModule {}

const TYPES = onMariadb ? (['mysql', 'mariadb'] as const) : (['sqlite'] as const);

/**
 * With `mysql`, TypeORM takes the default NULL of a nullable column on a MariaDB server for the text 'NULL', of the host's
 * own columns too, and would make each anew with its indexes. With `mariadb` it does not, nor on a MySQL server.
 */
const MISREAD = /^ALTER TABLE `\w+` CHANGE .* NULL$|^(DROP|CREATE)( UNIQUE)? INDEX /;

describe.each(TYPES)("a host's own schema on %s", (type) => {
  const isMisread = (query: string) => type === 'mysql' && MISREAD.test(query) && !query.includes('NOT NULL');

  async function open(url: string, tables: (typeof BudgetEntity)[] = []): Promise<DataSource> {
    const options = {
      entities: [...entities, ...tables],
      migrations: [...migrations],
      migrationsTableName: 'host_migrations',
    };
    const dataSource =
      type === 'sqlite'
        ? new SqliteDataSource({ database: url.slice('sqlite:'.length), ...options })
        : new DataSource({ type, url, timezone: 'Z', ...options });
    await dataSource.initialize();
    await dataSource.runMigrations();
    return dataSource;
  }

  it("needs no migration after those of Tenantry, which stand in the host's own table of migrations", async () => {
    const database = await emptyDatabase();
    const dataSource = await open(database.url);
    // What `typeorm migration:generate` writes into its file.
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    const changes = upQueries.map(({ query }) => query).filter((query) => !isMisread(query));
    expect(changes).toEqual([]);
    expect(await dataSource.query('SELECT name FROM host_migrations')).toHaveLength(migrations.length);
    await dataSource.destroy();
    await database.drop();
  });

  it('gives a bigint as a text on a server and as a number on SQLite, also in a tenant-bound repository', async () => {
    const database = await emptyDatabase();
    const dataSource = await open(database.url, [BudgetEntity]);
    const runner = dataSource.createQueryRunner();
    await runner.createTable(Table.create(dataSource.getMetadata(BudgetEntity), dataSource.driver));
    await runner.release();
    const typeorm = TypeOrmModule.forRootAsync({
      useFactory: () => dataSource.options,
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    const tenantry = TenantryModule.forRoot({ principalResolver: new HeaderResolver() });
    const imports = [typeorm, tenantry, TenantryModule.forFeature([BudgetEntity])];
    const app = await NestFactory.createApplicationContext(
      { module: HostModule, imports },
      { logger: false },
    );
    const budgets = app.get<TenantBoundRepository<BudgetEntity>>(tenantBoundToken(BudgetEntity), {
      strict: false,
    });
    await budgets.in(system()).insert({ plain: 7, deptId: 7 });
    const plain = onMariadb ? '7' : 7;
    expect(await budgets.in(system()).find({}, { limit: 1 })).toMatchObject([{ plain, deptId: 7 }]);
    expect(await dataSource.manager.find(BudgetEntity)).toMatchObject([{ plain, deptId: 7 }]);
    await app.close();
    await database.drop();
  });
});
