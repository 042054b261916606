import type { QueryResult } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import type { Mutex, Leave, Patience } from '../mutex';
import { BUDGET_MS } from '../retry-policy';
import type { SqliteConnection } from './sqlite.connection';

const READS = /^\s*(SELECT|EXPLAIN)\b/i;

/** Runs reads outside any transaction, on the read-only connection; it has no state, so all callers share it. */
export class SqliteReadRunner extends BetterSqlite3QueryRunner {
  constructor(
    driver: BetterSqlite3Driver,
    private readonly reader: () => SqliteConnection,
  ) {
    super(driver);
  }

  override connect(): Promise<SqliteConnection> {
    return Promise.resolve(this.reader());
  }
}

/**
 * As SQLite says when another process writes, after all the time that a unit has. Nobody holds the mutex for long, unless a transaction waits for another write
 * of the same process, which waits for the transaction.
 */
const PATIENCE: Patience = {
  ms: BUDGET_MS,
  refusal: () => Object.assign(new Error('The SQLite database is busy.'), { errcode: 5 }),
};

/** A caller's own runner: it holds the driver's mutex for the length of a transaction or of a single write. */
export class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  #leave: Leave | undefined;

  constructor(
    driver: BetterSqlite3Driver,
    private readonly mutex: Mutex,
    private readonly reads: SqliteReadRunner,
  ) {
    super(driver);
  }

  override async startTransaction(level?: IsolationLevel): Promise<void> {
    if (this.#leave) return super.startTransaction(level);
    this.#leave = await this.mutex.enter(PATIENCE);
    try {
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
    if (this.#leave) await this.rollbackTransaction().catch(() => undefined);
    await super.release();
  }

  override async query(sql: string, parameters?: unknown[], structured?: boolean): Promise<QueryResult> {
    if (!this.isTransactionActive && READS.test(sql)) {
      return (await this.reads.query(sql, parameters, structured)) as QueryResult;
    }
    // IMMEDIATE: a write lock taken at the start can wait for another process; one taken halfway cannot.
    const statement = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql;
    const run = async () => (await super.query(statement, parameters, structured)) as QueryResult;
    return this.isTransactionActive ? run() : this.mutex.run(run, PATIENCE);
  }

  #endTransaction(): void {
    this.isTransactionActive = false;
    this.transactionDepth = 0;
    this.#leave?.();
    this.#leave = undefined;
  }
}
