import { entities, migrations, SqliteDataSource } from 'tenantry';
import { DataSource } from 'typeorm';
import { OrderEntity } from './orders/order.entity.js';
import { PlatformTables1800000000000 } from './platform.migration.js';
import { StaffEntity } from './staff/staff.entity.js';

/** One database with the tables of the platform and those of Tenantry, migrated together. */
export async function openDatabase(
  url = process.env.DATABASE_URL ?? 'sqlite:platform.sqlite',
): Promise<DataSource> {
  const type = typeOf(url);
  const tables = {
    entities: [...entities, StaffEntity, OrderEntity],
    migrations: [...migrations, PlatformTables1800000000000],
  };
  const dataSource =
    type === 'better-sqlite3'
      ? new SqliteDataSource({ database: url.slice('sqlite:'.length), ...tables })
      : new DataSource({ url, type, ...tables });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  return dataSource;
}

function typeOf(url: string): 'better-sqlite3' | 'mariadb' | 'mysql' | 'postgres' {
  if (url.startsWith('sqlite:')) return 'better-sqlite3';
  if (url.startsWith('postgres')) return 'postgres';
  return url.startsWith('mariadb:') ? 'mariadb' : 'mysql';
}
