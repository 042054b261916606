import { QueryFailedError, type DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import type { SqliteDriver } from './sqlite/sqlite.driver';

/** What a statement may be given; an object would become a piece of SQL. */
export type Parameter = string | number | Date | null;

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** What a statement gave. */
export interface Outcome {
  readonly rows: Rows;
  /** How many rows a write has matched. */
  readonly affected: number;
  /** The id that the database made for the row of an INSERT. */
  readonly insertId: number;
}

/** What TypeORM's runners give: MySQL's an object for an INSERT, SQLite's the id itself. */
interface Plain {
  readonly raw: { readonly insertId?: number | string } | number | null;
  readonly records: Rows;
  readonly affected?: number;
}

type Raw = Rows | { readonly affectedRows: number; readonly insertId: number | string };

/** The part of a mysql2 connection, or of a pool of them, that is used here. */
interface Preparing {
  execute(sql: string, parameters: Parameter[], done: Done): void;
  query(sql: string, parameters: Parameter[], done: Done): void;
}

type Done = (error: (Error & { readonly errno?: number }) | null, raw: Raw) => void;

/**
 * The statement was not run because it could not be prepared, or is not known any more: all that the server may have are
 * taken (a limit that others share), a proxy has changed the server, or a table was altered. Its text can still be sent.
 */
const UNPREPARED: ReadonlySet<number | undefined> = new Set([1461, 1243, 1615]);

/**
 * Runs a statement whose text is always the same, inside the transaction of this manager. MySQL prepares it once per
 * connection; TypeORM would send it whole each time and cost four times as much. SQLite's connection prepares everything.
 */
export async function runPrepared(
  { queryRunner: runner, dataSource }: EntityManager,
  sql: string,
  parameters: Parameter[],
): Promise<Outcome> {
  if (!runner?.isTransactionActive) throw new Error('This statement belongs into a transaction.');
  const connection = (await runner.connect()) as Partial<Preparing>;
  if (isWatched(dataSource) || !connection.execute) return plainly(runner, sql, parameters);
  const raw = await logged(dataSource, sql, parameters, () =>
    execute(connection as Preparing, sql, parameters),
  );
  if ('affectedRows' in raw) {
    return { rows: [], affected: raw.affectedRows, insertId: Number(raw.insertId) };
  }
  return { rows: raw, affected: 0, insertId: 0 };
}

/** Runs a SELECT whose text is always the same, outside any transaction and past the query runner. */
export async function readPrepared(
  dataSource: DataSource,
  sql: string,
  parameters: Parameter[],
): Promise<Rows> {
  const read = isWatched(dataSource) ? undefined : readerOf(dataSource);
  if (!read) return dataSource.query<Rows>(sql, parameters);
  return logged(dataSource, sql, parameters, () => read(sql, parameters));
}

/** The shortest way to the connections of our own SQLite driver, or of TypeORM's MySQL driver. */
function readerOf({
  driver,
}: DataSource): ((sql: string, parameters: Parameter[]) => Promise<Rows> | Rows) | undefined {
  const own = driver as Partial<SqliteDriver>;
  if (own.read) return own.read.bind(driver);
  const { pool } = driver as { readonly pool?: Partial<Preparing> };
  return pool?.execute && ((sql, parameters) => execute(pool as Preparing, sql, parameters) as Promise<Rows>);
}

function execute(connection: Preparing, sql: string, parameters: Parameter[]): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const settle: Done = (error, raw) => {
      if (error) reject(error);
      else resolve(raw);
    };
    connection.execute(sql, parameters, (error, raw) => {
      if (error && UNPREPARED.has(error.errno)) connection.query(sql, parameters, settle);
      else settle(error, raw);
    });
  });
}

async function logged<T>(
  { logger }: DataSource,
  sql: string,
  parameters: Parameter[],
  run: () => T | Promise<T>,
): Promise<T> {
  logger.logQuery(sql, parameters);
  try {
    return await run();
  } catch (error) {
    logger.logQueryError(error as Error, sql, parameters);
    throw new QueryFailedError(sql, parameters, error as Error);
  }
}

/** Whether somebody beside the logger wants to know of every statement. */
function isWatched({ subscribers, options }: DataSource): boolean {
  return subscribers.length > 0 || Boolean(options.maxQueryExecutionTime);
}

async function plainly(runner: QueryRunner, sql: string, parameters: Parameter[]): Promise<Outcome> {
  const { raw, records, affected } = (await runner.query(sql, parameters, true)) as Plain;
  const insertId = typeof raw === 'object' ? raw?.insertId : raw;
  return { rows: records, affected: affected ?? 0, insertId: Number(insertId ?? 0) };
}
