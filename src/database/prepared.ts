import { QueryFailedError, type EntityManager, type QueryRunner } from 'typeorm';

/** What a statement may be given; an object would become a piece of SQL. */
export type Parameter = string | number | Date | null;

/** What a statement gave. */
export interface Outcome {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** How many rows a write has matched. */
  readonly affected: number;
  /** The id that the database made for the row of an INSERT. */
  readonly insertId: number;
}

/** What TypeORM's runners give: MySQL's an object for an INSERT, SQLite's the id itself. */
interface Plain {
  readonly raw: { readonly insertId?: number | string } | number | null;
  readonly records: Outcome['rows'];
  readonly affected?: number;
}

type Raw =
  | readonly Readonly<Record<string, unknown>>[]
  | { readonly affectedRows: number; readonly insertId: number | string };

/** The part of a mysql2 connection that is used here. */
interface Preparing {
  execute(sql: string, parameters: Parameter[], done: (error: Error | null, raw: Raw) => void): void;
}

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
  if (!isUnwatched(runner) || !connection.execute) return plainly(runner, sql, parameters);
  dataSource.logger.logQuery(sql, parameters, runner);
  const raw = await execute(connection as Preparing, sql, parameters).catch((error: unknown) => {
    dataSource.logger.logQueryError(error as Error, sql, parameters, runner);
    throw new QueryFailedError(sql, parameters, error as Error);
  });
  if ('affectedRows' in raw) {
    return { rows: [], affected: raw.affectedRows, insertId: Number(raw.insertId) };
  }
  return { rows: raw, affected: 0, insertId: 0 };
}

function execute(connection: Preparing, sql: string, parameters: Parameter[]): Promise<Raw> {
  return new Promise((resolve, reject) => {
    connection.execute(sql, parameters, (error, raw) => {
      if (error) reject(error);
      else resolve(raw);
    });
  });
}

/** Whether nobody but the logger wants to know of every statement. */
function isUnwatched({ dataSource }: QueryRunner): boolean {
  return dataSource.subscribers.length === 0 && !dataSource.options.maxQueryExecutionTime;
}

async function plainly(runner: QueryRunner, sql: string, parameters: Parameter[]): Promise<Outcome> {
  const { raw, records, affected } = (await runner.query(sql, parameters, true)) as Plain;
  const insertId = typeof raw === 'object' ? raw?.insertId : raw;
  return { rows: records, affected: affected ?? 0, insertId: Number(insertId ?? 0) };
}
