import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

type Bindable = string | number | bigint | Uint8Array | null;

export interface SqliteConnectionOptions {
  readonly readonly?: boolean;
  readonly timeout?: number;
}

/** A prepared statement in the shape TypeORM's better-sqlite3 runner calls. */
class SqliteStatement {
  /** Whether running it gives rows; the runner decides between `all` and `run` by it. */
  readonly reader: boolean;
  readonly #statement: StatementSyncInstance;

  constructor(statement: StatementSyncInstance) {
    this.#statement = statement;
    this.reader = statement.columns().length > 0;
  }

  all(...parameters: Bindable[]): unknown[] {
    return this.#statement.all(...parameters);
  }

  run(...parameters: Bindable[]): { changes: number; lastInsertRowid: number | bigint } {
    return this.#statement.run(...parameters);
  }
}

const CACHED_STATEMENTS = 500;

/**
 * node:sqlite's interface (binaries inside the npm package, no compiler, no download) behind the part of
 * better-sqlite3's that TypeORM uses. Statements are cached here, per connection, because query runners
 * live only as long as one unit of work.
 */
export class SqliteConnection {
  readonly #database: InstanceType<typeof DatabaseSync>;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(path: string, { readonly: readOnly = false, timeout = 0 }: SqliteConnectionOptions = {}) {
    this.#database = new DatabaseSync(path, { readOnly, timeout });
  }

  prepare(sql: string): SqliteStatement {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = new SqliteStatement(this.#database.prepare(sql));
    this.#statements.set(sql, statement);
    if (this.#statements.size > CACHED_STATEMENTS) this.#forgetOldest();
    return statement;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  pragma(pragma: string): unknown[] {
    return this.#database.prepare(`PRAGMA ${pragma}`).all();
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #forgetOldest(): void {
    const [oldest] = this.#statements.keys();
    if (oldest !== undefined) this.#statements.delete(oldest);
  }
}
