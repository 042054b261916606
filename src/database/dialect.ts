import type { DataSource, DataSourceOptions, EntityMetadata, MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How a unit of work uses a session, which may be a host's own: under READ COMMITTED, and no wait for a lock is longer than a second. That
 * is a third of a unit's time, so that one that did not get the lock is still replayed.
 */
export interface UnitSession {
  /** Begins the transaction. */
  begin(runner: QueryRunner): Promise<void>;
  /** Leaves the session as it was; before its connection goes back to the pool. */
  end(runner: QueryRunner): Promise<void>;
}

/** Of a session that has these settings already. */
export const PLAIN_SESSION: UnitSession = {
  begin: (runner) => runner.startTransaction(),
  end: () => Promise.resolve(),
};

type Charset = 'ascii' | 'utf8mb4';

/** A value of a statement. An object would become a piece of SQL. */
export type Parameter = string | number | Date | null;
export type Rows = readonly Readonly<Record<string, unknown>>[];

export interface StatementResult {
  readonly rows: Rows;
  readonly affected: number;
  readonly insertId: number;
}

/** Runs a statement whose text is always the same. */
export type Execute = (
  sql: string,
  parameters: readonly Parameter[],
) => Promise<StatementResult> | StatementResult;

/** What differs between the databases once they are open; their errors are in `retry-policy.ts`. */
export interface Dialect {
  readonly bigint: string;
  readonly integer: string;
  readonly longText: string;
  readonly instant: string;
  /** Whether times are sent and read as texts in UTC, because the driver would take them to be in the time zone of its host. */
  readonly timesAsText: boolean;
  /** Gives the first place of a text in another. */
  readonly instr: string;
  /** Whether many pairs are found by `(a, b) IN (VALUES …)`, not by `a = … AND b = … OR …`. */
  readonly findsByRowValues: boolean;
  charset(charset: Charset): { readonly charset?: string; readonly collation?: string };
  /** Changes the type of a column that may be empty; null where the table has to be made anew. */
  changeType(table: string, column: string, type: string): string | null;
  /** The place in a statement of its value of this number, from 1. */
  place(number: number): string;
  /** Stands at the end of an INSERT whose table makes ids in this column. */
  returning(column: string): string;
  /** What an UPDATE that adds 1 to a column sets, and what stands at its end, so that `raisedTo` finds the new value. */
  raise(column: string): { readonly set: string; readonly end: string };
  /** The ids of so many new rows, from what their INSERT gave; null where it gives only the first. */
  newIds(inserted: StatementResult, count: number): number[] | null;
  /** Statements that make the ids of a table go on after the one in their first place; none where an INSERT with that id does. */
  passIds(table: string, column: string): readonly string[];
  /** Makes the database count what a table holds, after many new rows; null where it knows without. */
  analyze(table: string): string | null;
  /** Stands after the name of a table, so that this index of it is used; `PRIMARY` is its key. */
  forceIndex(index: string, table: EntityMetadata): string;
  /**
   * That a row comes after another in the order of these columns, as one range of an index; `place` gives a place for a value. With
   * `<` in the order that descends.
   */
  after(columns: readonly string[], place: (index: number) => string, compared?: '>' | '<'): string;
  /** What runs this statement prepared, once per connection; null where TypeORM does it as well. */
  preparing(runner: QueryRunner, sql: string): Promise<Execute | null>;
  /** How units use sessions that are set up like this one. */
  unitSession(runner: QueryRunner): Promise<UnitSession>;
  poolState(dataSource: DataSource): PoolState;
}

/** The id of the first of so many new rows, from what their INSERT gave. */
export function firstIdOf(dialect: Dialect, inserted: StatementResult, count: number): number {
  return dialect.newIds(inserted, count)?.[0] ?? inserted.insertId;
}

/** The new value of a column that was raised in one row, from what its UPDATE gave; null when there was no such row. */
export function raisedTo({ rows, affected, insertId }: StatementResult): number | null {
  if (rows[0]) return Number(rows[0].id);
  return affected === 1 ? insertId : null;
}

/** `Dialect.raise` of a database that gives changed rows back. */
export const raiseByReturning: Dialect['raise'] = (column) => ({
  set: `${column} = ${column} + 1`,
  end: ` RETURNING ${column} AS id`,
});

/** `Dialect.after` of a database that finds the range of `(a, b) > (x, y)` in an index. */
export const afterByRowValues: Dialect['after'] = (columns, place, compared = '>') =>
  `(${columns.join(', ')}) ${compared} (${columns.map((_, index) => place(index)).join(', ')})`;

export interface PoolState {
  readonly limit: number;
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Tables of a host, or of the service, beside those of the library. */
export interface OwnTables {
  readonly entities?: readonly (new () => object)[];
  readonly migrations?: readonly (new () => MigrationInterface)[];
}

export type Tables = Pick<DataSourceOptions, 'entities' | 'migrations'>;
export type Unlock = () => Promise<void>;

/** How long a process waits for another that prepares the same database. */
export const LOCK_WAIT_S = 120;

/** Of a pool, unless the location says otherwise. */
export const MOST_CONNECTIONS = 20;

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
  // Others print that a migration has failed, as text between lines of JSON. The error is told by whoever runs it.
  logger: 'debug' as const,
};
