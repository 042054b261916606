import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import type { MysqlPool } from './mysql/mysql-pool';
import type { SqliteDriver } from './sqlite/sqlite.driver';

/** The level that transactions must ask for; none where it is the default. */
export type Isolation = 'READ COMMITTED' | undefined;
type Charset = 'ascii' | 'utf8mb4';

/** What differs between the databases once they are open; their errors are in `retry-policy.ts`. */
export interface Dialect {
  readonly bigint: string;
  readonly integer: string;
  readonly longText: string;
  charset(charset: Charset): { readonly charset?: string; readonly collation?: string };
  /** The id of the first of so many rows, from the one that their INSERT gave. */
  firstId(insertId: number, count: number): number;
  /** Stands after the name of a table. */
  forceIndex(index: string): string;
  /** That a row comes after another in the order of these columns, as one range of an index; `place` gives a place for a value. */
  after(columns: readonly string[], place: (index: number) => string): string;
  isolationFor(runner: QueryRunner): Promise<Isolation>;
  poolState(dataSource: DataSource): PoolState;
}

export interface PoolState {
  readonly limit: number;
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

interface Many {
  readonly length: number;
}

/** Private parts of mysql2's pool, which has no other way to ask; a test fails when they change. */
interface PrivatePool {
  readonly config: { readonly connectionLimit: number };
  readonly _allConnections: Many;
  readonly _freeConnections: Many;
  readonly _connectionQueue: Many;
}

const MYSQL: Dialect = {
  bigint: 'bigint',
  integer: 'int',
  longText: 'mediumtext',
  charset: (charset) => ({ charset, collation: `${charset}_bin` }),
  firstId: (insertId) => insertId,
  // With USE INDEX, MariaDB may read from the tenant's first entry: ten times the cost in the middle of half a million.
  forceIndex: (index) => ` FORCE INDEX (${index})`,
  // It uses no index for `(a, b) > (?, ?)`. Of these alternatives it makes neighbouring ranges, which it reads in order.
  after: (columns, place) => {
    const alternatives = columns.map((column, last) => {
      const same = columns.slice(0, last).map((other, index) => `${other} = ${place(index)}`);
      return [...same, `${column} > ${place(last)}`].join(' AND ');
    });
    return `(${alternatives.join(' OR ')})`;
  },
  // Sessions of a host's own DataSource may default to another level.
  isolationFor: async (runner) => {
    const rows = (await runner.query(
      "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')",
    )) as { Value: string }[];
    return rows.every((row) => row.Value === 'READ-COMMITTED') ? undefined : 'READ COMMITTED';
  },
  poolState: ({ driver }) => {
    const { pool } = driver as unknown as { pool: PrivatePool };
    return {
      limit: pool.config.connectionLimit,
      used: pool._allConnections.length - pool._freeConnections.length,
      idle: pool._freeConnections.length,
      waiting: pool._connectionQueue.length,
    };
  },
};

const SQLITE: Dialect = {
  bigint: 'integer',
  integer: 'integer',
  longText: 'text',
  charset: () => ({}),
  // It gives the id of the last row.
  firstId: (insertId, count) => insertId - count + 1,
  forceIndex: () => '',
  after: (columns, place) =>
    `(${columns.join(', ')}) > (${columns.map((_, index) => place(index)).join(', ')})`,
  isolationFor: () => Promise.resolve(undefined),
  poolState: ({ driver }) => {
    const { held, waiting } = (driver as SqliteDriver).writers;
    return { limit: 1, used: held, idle: 1 - held, waiting };
  },
};

export function isSqlite({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

export function dialectOf(dataSource: DataSource): Dialect {
  return isSqlite(dataSource) ? SQLITE : MYSQL;
}

/** Closes connections of the service on which nothing moves for so long; SQLite has none. */
export function limitSilence({ options }: DataSource, milliseconds: number): void {
  const { driver } = options as { driver?: Partial<MysqlPool> };
  driver?.limitSilence?.(milliseconds);
}

export type Tables = Pick<DataSourceOptions, 'entities' | 'migrations'>;
export type Unlock = () => Promise<void>;

/** How long a process waits for another that prepares the same database. */
export const LOCK_WAIT_S = 120;

/** What the service does with a database before it is open. */
export interface Backend {
  /** Not yet initialised. `onWait` is called when the server is not there yet. */
  createDataSource(tables: Tables, onWait?: () => void): Promise<DataSource>;
  /** Keeps other processes from preparing the same database; they wait. */
  lock(): Promise<Unlock>;
}

export const commonOptions = {
  migrationsTableName: 'tenantry_migrations',
  migrationsTransactionMode: 'each' as const,
  logging: false,
};
