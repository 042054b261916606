import type { DataSourceOptions } from 'typeorm';
import type { MysqlSessions } from '../database/mysql-sessions';
import type { DatabaseLocation } from './database-url';

/** TypeORM tells the two servers apart: with the wrong type it sees endless schema differences. */
export type MysqlFlavour = 'mysql' | 'mariadb';

/** What the service says about its database, whatever kind it is. */
export const commonOptions = {
  migrationsTableName: 'tenantry_migrations',
  migrationsTransactionMode: 'each' as const,
  logging: false,
};

/** The one source of TypeORM's options for a server: for the service, its tests and the TypeORM CLI. */
export function serverOptions(
  { kind: _, ...credentials }: DatabaseLocation & { kind: 'mysql' },
  flavour: MysqlFlavour,
  driver: MysqlSessions,
): DataSourceOptions {
  return {
    ...commonOptions,
    ...credentials,
    type: flavour,
    driver,
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: 3000,
    // No stack for each statement in case it fails: TypeORM's error has one.
    trace: false,
    extra: { connectionLimit: 20, maxPreparedStatements: 200 },
    synchronize: false,
  };
}
