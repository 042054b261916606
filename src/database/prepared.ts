import { QueryFailedError, type EntityManager } from 'typeorm';
import type { SqliteDriver } from './sqlite/sqlite.driver';
import { dataSourceOf } from './tenantry.data-source';

/** An object would become a piece of SQL. */
export type Parameter = string | number | Date | null;
type Rows = readonly Readonly<Record<string, unknown>>[];

export interface Outcome {
  readonly rows: Rows;
  readonly affected: number;
  readonly insertId: number;
}

type Raw = Rows | { readonly affectedRows: number; readonly insertId: number | string };
type Callback = (error: (Error & { readonly errno?: number }) | null, raw: Raw) => void;

interface MysqlConnection {
  execute(sql: string, parameters: readonly Parameter[], done: Callback): void;
  query(sql: string, parameters: readonly Parameter[], done: Callback): void;
}

/** Too many prepared statements on the server, another server behind the proxy, an altered table: its text can still be sent. */
const UNPREPARED: ReadonlySet<number | undefined> = new Set([1461, 1243, 1615]);

/**
 * Runs a statement whose text is always the same on the connection of this manager. MySQL prepares it once per connection;
 * TypeORM would send its text each time and cost four times as much. SQLite's connection prepares everything.
 */
export async function runPrepared(
  manager: EntityManager,
  sql: string,
  parameters: Parameter[],
): Promise<Outcome> {
  const { queryRunner: runner } = manager;
  const dataSource = dataSourceOf(manager);
  if (!runner) throw new Error('A prepared statement needs a connection of its own.');
  const connection = (await runner.connect()) as Partial<MysqlConnection>;
  const { read } = dataSource.driver as Partial<SqliteDriver>;
  const isPlainRead = read && !runner.isTransactionActive && sql.startsWith('SELECT');
  // A subscriber, or the log of slow statements, wants to know of every statement.
  const isWatched = dataSource.subscribers.length > 0 || Boolean(dataSource.options.maxQueryExecutionTime);
  if (isWatched || !(connection.execute || isPlainRead)) {
    const result = await runner.query(sql, parameters, true);
    // MySQL gives an object for an INSERT, SQLite the id itself.
    const raw = result.raw as { readonly insertId?: number | string } | number | null;
    const insertId = Number((typeof raw === 'object' ? raw?.insertId : raw) ?? 0);
    return { rows: result.records as Rows, affected: result.affected ?? 0, insertId };
  }
  dataSource.logger.logQuery(sql, parameters);
  try {
    const raw = isPlainRead
      ? read.call(dataSource.driver as SqliteDriver, sql, parameters)
      : await execute(connection as MysqlConnection, sql, parameters);
    if (!('affectedRows' in raw)) return { rows: raw, affected: 0, insertId: 0 };
    return { rows: [], affected: raw.affectedRows, insertId: Number(raw.insertId) };
  } catch (error) {
    dataSource.logger.logQueryError(error as Error, sql, parameters);
    throw new QueryFailedError(sql, parameters, error as Error);
  }
}

function execute(connection: MysqlConnection, sql: string, parameters: readonly Parameter[]): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const settle: Callback = (error, raw) => {
      if (error) reject(error);
      else resolve(raw);
    };
    // mysql2 would send numbers as floating-point ones, which MySQL 8 refuses after LIMIT.
    const texts = parameters.map((value) => (typeof value === 'number' ? String(value) : value));
    connection.execute(sql, texts, (error, raw) => {
      if (error && UNPREPARED.has(error.errno)) connection.query(sql, parameters, settle);
      else settle(error, raw);
    });
  });
}
