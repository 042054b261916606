import type { ColumnType, QueryRunner } from 'typeorm';
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { Mutex } from '../mutex';
import { SqliteConnection } from './sqlite.connection';
import { SqliteQueryRunner, SqliteReadRunner } from './sqlite.query-runner';

/** SQLite's only 64-bit auto-increment is called INTEGER, and its texts have one length. */
const OWN_TYPES: ReadonlyMap<ColumnType | undefined, string> = new Map<ColumnType | undefined, string>([
  ['bigint', 'integer'],
  ['mediumtext', 'text'],
]);

/**
 * TypeORM's SQLite driver hands ONE query runner to every caller: two concurrent transactions become one, and
 * the rollback of either takes the other's acknowledged work with it. This one gives each caller its own
 * runner; the mutex lets one writer at a time onto the connection, and reads outside a transaction go to a
 * second, read-only connection, so that they never see what is not committed.
 */
export class SqliteDriver extends BetterSqlite3Driver {
  readonly #mutex = new Mutex();
  readonly #reads = new SqliteReadRunner(this, () => this.#openReader());
  #reader: SqliteConnection | undefined;

  /** Who writes, and who waits for that. */
  get writers(): Pick<Mutex, 'inside' | 'waiting'> {
    return this.#mutex;
  }

  override createQueryRunner(): QueryRunner {
    return new SqliteQueryRunner(this, this.#mutex, this.#reads);
  }

  /** A read outside any transaction, at once. */
  read(sql: string, parameters: readonly unknown[]): Record<string, unknown>[] {
    const values = parameters as (string | number)[];
    return this.#openReader()
      .prepare(sql)
      .all(...values) as Record<string, unknown>[];
  }

  override supportedDataTypes: ColumnType[] = [...this.supportedDataTypes, 'mediumtext'];

  override normalizeType(column: {
    type?: ColumnType;
    length?: number | string;
    precision?: number | null;
    scale?: number;
  }): string {
    return OWN_TYPES.get(column.type) ?? super.normalizeType(column);
  }

  override async disconnect(): Promise<void> {
    this.#reader?.close();
    this.#reader = undefined;
    await super.disconnect();
  }

  protected override async createDatabaseConnection(): Promise<SqliteConnection> {
    const writer = (await super.createDatabaseConnection()) as SqliteConnection;
    writer.pragma('synchronous = FULL');
    this.#reader = new SqliteConnection(this.options.database, { readonly: true, timeout: 5000 });
    return writer;
  }

  #openReader(): SqliteConnection {
    if (!this.#reader) throw new Error('The SQLite database is not open.');
    return this.#reader;
  }
}
