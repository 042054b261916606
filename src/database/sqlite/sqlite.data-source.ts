import { DataSource, type DataSourceOptions } from 'typeorm';
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
  /** Path of the file. */
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
