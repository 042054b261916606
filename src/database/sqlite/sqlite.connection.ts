import type * as Sqlite from '@photostructure/sqlite';
import { LRUCache } from 'lru-cache';
import { loadPart } from '../../errors/load-part';

export interface SqliteConnectionOptions {
  readonly readonly?: boolean;
  readonly timeout?: number;
}

/** A prepared statement as TypeORM's better-sqlite3 runner calls it: `reader` decides between `all` and `run`. */
type SqliteStatement = Sqlite.StatementSyncInstance & { readonly reader: boolean };

/**
 * node:sqlite's interface (binaries inside the npm package, no compiler, no download) behind the part of
 * better-sqlite3's that TypeORM uses. Statements are cached per connection, because query runners live only as
 * long as one unit of work.
 */
export class SqliteConnection {
  readonly #database: InstanceType<typeof Sqlite.DatabaseSync>;
  readonly #statements = new LRUCache<string, SqliteStatement>({ max: 500 });

  constructor(path: string, { readonly: readOnly = false, timeout = 0 }: SqliteConnectionOptions = {}) {
    const load = () => require('@photostructure/sqlite') as typeof Sqlite;
    const { DatabaseSync } = loadPart('SQLite', ['@photostructure/sqlite'], load);
    this.#database = new DatabaseSync(path, { readOnly, timeout });
  }

  prepare(sql: string): SqliteStatement {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const prepared = this.#database.prepare(sql);
    const statement = Object.assign(prepared, { reader: prepared.columns().length > 0 });
    this.#statements.set(sql, statement);
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
}
