import { readFileSync } from 'node:fs';
import type { ConnectionOptions, SslOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import type { MysqlPool } from './mysql/mysql-pool';
import type { MysqlLocation } from './database-url';

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
  location: MysqlLocation,
  flavour: MysqlFlavour,
  driver: MysqlPool,
): DataSourceOptions {
  const { host, port, username, password, database } = location;
  return {
    ...commonOptions,
    ...{ host, port, username, password, database },
    ...securityOf(location),
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

/** For a single connection, outside the pool. */
export function connectionOptions(location: MysqlLocation): ConnectionOptions {
  const { host, port, username: user, password, database } = location;
  return { host, port, user, password, database, ...securityOf(location), connectTimeout: 5000 };
}

function securityOf({ tls }: MysqlLocation): { ssl?: SslOptions } {
  if (!tls) return {};
  const { caFile, checkHost } = tls;
  const ca = caFile === undefined ? {} : { ca: readAuthorities(caFile) };
  return { ssl: { ...ca, rejectUnauthorized: true, verifyIdentity: checkHost } };
}

function readAuthorities(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`DATABASE_URL: the file of ssl-ca cannot be read (${(error as Error).message}).`, {
      cause: error,
    });
  }
}
