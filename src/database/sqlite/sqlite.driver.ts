import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueryRunnerAlreadyReleasedError, type QueryResult, type QueryRunner } from 'typeorm';
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { Mutex, type Release, type WaitLimit } from '../../concurrency/mutex';
import type { Rows } from '../dialect';
import { BUDGET_MS } from '../retry-policy';
import { SqliteConnection } from './sqlite.connection';
import { StatementTurns } from './statement-turns';

const READS = /^\s*(SELECT|EXPLAIN)\b/i;

/** A transaction that waits for another write of this process, which waits for the transaction, ends like this. */
const WAIT_LIMIT: WaitLimit = {
  ms: BUDGET_MS,
  refusal: () => Object.assign(new Error('The SQLite database is busy.'), { errcode: 5 }),
};

/** SQLite's own code for it, which it does not give in WAL mode. */
const SQLITE_READONLY_MOVED = 1032;

/**
 * TypeORM's SQLite driver hands ONE query runner to every caller: two concurrent transactions become one, and
 * the rollback of either takes the other's acknowledged work with it. This one gives each caller its own
 * runner; the mutex lets one writer at a time onto the connection, and reads outside a transaction go to a
 * second, read-only connection, so that they never see what is not committed.
 */
export class SqliteDriver extends BetterSqlite3Driver {
  readonly #mutex = new Mutex();
  readonly #turns = new StatementTurns();
  readonly #reads = new SqliteReadRunner(this, this.#turns, () => this.#openReader());
  #reader: SqliteConnection | undefined;
  #path = '';
  #inode: bigint | undefined;

  /** How many write, and wait for that. */
  get writers(): Pick<Mutex, 'held' | 'waiting'> {
    return this.#mutex;
  }

  override createQueryRunner(): QueryRunner {
    return new SqliteQueryRunner(this, this.#mutex, this.#reads);
  }

  /** A read outside any transaction. */
  read(sql: string, parameters: readonly unknown[]): Rows | Promise<Rows> {
    const [reader, values] = [this.#openReader(), parameters as (string | number)[]];
    return this.#turns.run(() => reader.prepare(sql).all(...values) as Rows);
  }

  /** SQLite's only 64-bit auto-increment is called INTEGER. */
  override normalizeType(column: Parameters<BetterSqlite3Driver['normalizeType']>[0]): string {
    return column.type === 'bigint' ? 'integer' : super.normalizeType(column);
  }

  /** Leaves everything in the file itself, for those who copy it: after closing alone it was still in the -wal file. */
  override async disconnect(): Promise<void> {
    this.#reader?.close();
    this.#reader = undefined;
    try {
      (this.databaseConnection as SqliteConnection | undefined)?.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // The disk may be full: it stays in the file beside it, and is found there.
    }
    await super.disconnect();
  }

  protected override async createDatabaseConnection(): Promise<SqliteConnection> {
    const writer = (await super.createDatabaseConnection()) as SqliteConnection;
    writer.pragma('synchronous = FULL');
    refuseReadOnly(this.options.database);
    this.#path = resolve(this.options.database);
    this.#inode = inodeOf(this.#path);
    this.#reader = new SqliteConnection(this.options.database, { readonly: true, timeout: 5000 });
    return writer;
  }

  /** What is written to a file that is gone, or no longer in its place, is lost when the process ends. */
  refuseMoved(): void {
    if (inodeOf(this.#path) === this.#inode) return;
    throw Object.assign(new Error('The SQLite file was removed or replaced. Restart the service.'), {
      errcode: SQLITE_READONLY_MOVED,
    });
  }

  #openReader(): SqliteConnection {
    if (!this.#reader) throw new Error('The SQLite database is not open.');
    return this.#reader;
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** SQLite opens such a file without a word, and refuses each write. */
function refuseReadOnly(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new Error(`The SQLite file ${path} cannot be written.`, { cause: error });
  }
}

/** Runs reads outside any transaction, on the read-only connection; it has no state, so all callers share it. */
class SqliteReadRunner extends BetterSqlite3QueryRunner {
  constructor(
    driver: BetterSqlite3Driver,
    private readonly turns: StatementTurns,
    private readonly reader: () => SqliteConnection,
  ) {
    super(driver);
  }

  override async connect(): Promise<SqliteConnection> {
    await this.turns.enter();
    return this.reader();
  }
}

/** A caller's own runner: it holds the driver's mutex for the length of a transaction or of a single write. */
class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  #release: Release | undefined;

  constructor(
    private readonly file: SqliteDriver,
    private readonly mutex: Mutex,
    private readonly reads: SqliteReadRunner,
  ) {
    super(file);
  }

  override async startTransaction(level?: IsolationLevel): Promise<void> {
    if (this.#release) return super.startTransaction(level);
    this.#release = await this.mutex.acquire(WAIT_LIMIT);
    try {
      this.file.refuseMoved();
      await super.startTransaction(level);
    } catch (error) {
      this.#endTransaction();
      throw error;
    }
  }

  override async commitTransaction(): Promise<void> {
    await super.commitTransaction();
    if (this.transactionDepth === 0) this.#endTransaction();
  }

  override async rollbackTransaction(): Promise<void> {
    const outermost = this.transactionDepth <= 1;
    try {
      await super.rollbackTransaction();
    } finally {
      if (outermost) this.#endTransaction();
    }
  }

  override async release(): Promise<void> {
    if (this.#release) await this.rollbackTransaction().catch(() => undefined);
    await super.release();
    this.isReleased = true;
  }

  override async query(sql: string, parameters?: unknown[], structured?: boolean): Promise<QueryResult> {
    // As the runners of other databases do: who has it still is not part of its transaction any more.
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError();
    if (!this.isTransactionActive) this.file.refuseMoved();
    if (!this.isTransactionActive && READS.test(sql)) {
      return (await this.reads.query(sql, parameters, structured)) as QueryResult;
    }
    // IMMEDIATE: a write lock taken at the start can wait for another process; one taken halfway cannot.
    const statement = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql;
    const run = async () => (await super.query(statement, parameters, structured)) as QueryResult;
    return this.isTransactionActive ? run() : this.mutex.runExclusive(run, WAIT_LIMIT);
  }

  #endTransaction(): void {
    this.isTransactionActive = false;
    this.transactionDepth = 0;
    this.#release?.();
    this.#release = undefined;
  }
}
