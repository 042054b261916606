import type { DataSourceOptions } from 'typeorm';
import { entities } from '../database/entities';
import { migrations } from '../database/migrations/index';
import { MysqlSessions } from '../database/mysql-sessions';
import { SqliteConnection } from '../database/sqlite/sqlite.connection';
import type { DatabaseLocation } from './database-url';

/** TypeORM tells the two servers apart: with the wrong type it sees endless schema differences. */
export type MysqlFlavour = 'mysql' | 'mariadb';

const common = {
  entities,
  migrations,
  migrationsTableName: 'tenantry_migrations',
  migrationsTransactionMode: 'each' as const,
  synchronize: false,
  logging: false,
};

/** The one source of TypeORM's options: for the service, its tests and the TypeORM CLI. */
export function dataSourceOptions(location: DatabaseLocation, flavour: MysqlFlavour): DataSourceOptions {
  if (location.kind === 'sqlite') {
    return {
      ...common,
      type: 'better-sqlite3',
      database: location.path,
      driver: SqliteConnection,
      enableWAL: true,
      // Busy means another process writes: the unit of work waits for it without stopping the event loop.
      timeout: 0,
      statementCacheSize: 0,
    };
  }
  const { kind: _, ...credentials } = location;
  return {
    ...common,
    ...credentials,
    type: flavour,
    driver: new MysqlSessions(),
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: 5000,
    extra: { connectionLimit: 20, maxPreparedStatements: 200 },
  };
}
