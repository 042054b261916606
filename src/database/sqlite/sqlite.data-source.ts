import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { evenly, retry } from '../../concurrency/retry';
import { commonOptions, LOCK_WAIT_S, type Backend, type Tables, type Unlock } from '../dialect';
import { faultOf } from '../retry-policy';
import { SqliteConnection } from './sqlite.connection';
import { SqliteDriver } from './sqlite.driver';

/** What a host says about its SQLite file; the rest is decided here. */
export interface SqliteDataSourceOptions extends Pick<
  DataSourceOptions,
  | 'entities'
  | 'migrations'
  | 'migrationsRun'
  | 'migrationsTableName'
  | 'migrationsTransactionMode'
  | 'logging'
> {
  readonly database: string;
}

/**
 * A SQLite file as the library needs it: TypeORM's own driver gives all callers one transaction, this one gives each
 * its own. The schema comes from migrations alone.
 */
export class SqliteDataSource extends DataSource {
  constructor(options: SqliteDataSourceOptions) {
    super({
      ...options,
      type: 'better-sqlite3',
      driver: SqliteConnection,
      enableWAL: true,
      // Busy means another process writes: the unit of work waits for it without stopping the event loop.
      timeout: 0,
      statementCacheSize: 0,
      synchronize: false,
    });
    this.driver = new SqliteDriver(this);
  }
}

export class SqliteBackend implements Backend {
  constructor(private readonly path: string) {}

  createDataSource(tables: Tables): Promise<DataSource> {
    return Promise.resolve(new SqliteDataSource({ ...commonOptions, ...tables, database: this.path }));
  }

  /** SQLite has no named locks: a transaction on a companion file is one, and the system frees it with the process. */
  async lock(): Promise<Unlock> {
    mkdirSync(dirname(this.path), { recursive: true });
    const connection = new SqliteConnection(`${this.path}.lock`);
    const isBusy = (error: unknown) => faultOf(error) !== 'fatal';
    const begin = (): void => {
      connection.exec('BEGIN EXCLUSIVE');
    };
    await retry(begin, evenly(50, LOCK_WAIT_S * 1000, isBusy));
    return () => {
      connection.close();
      return Promise.resolve();
    };
  }
}
