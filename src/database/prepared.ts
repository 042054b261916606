import { QueryFailedError, QueryRunnerAlreadyReleasedError, type EntityManager } from 'typeorm';
import type { StatementResult, Parameter, Rows } from './dialect';
import { dialectOf } from './dialects';
import { dataSourceOf } from './tenantry.data-source';

/** Runs a statement whose text is always the same on the connection of this manager: the database prepares it once. */
export async function runPrepared(
  manager: EntityManager,
  sql: string,
  parameters: Parameter[],
): Promise<StatementResult> {
  const { queryRunner: runner } = manager;
  const dataSource = dataSourceOf(manager);
  if (!runner) throw new Error('A prepared statement needs a connection of its own.');
  // As TypeORM does: the connection may be another's by now.
  if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
  // A subscriber, or the log of slow statements, wants to know of every statement.
  const isWatched = dataSource.subscribers.length > 0 || Boolean(dataSource.options.maxQueryExecutionTime);
  const execute = isWatched ? null : await dialectOf(dataSource).preparing(runner, sql);
  if (!execute) {
    const result = await runner.query(sql, parameters, true);
    // MySQL gives an object for an INSERT, SQLite the id itself.
    const raw = result.raw as { readonly insertId?: number | string } | number | null;
    const insertId = Number((typeof raw === 'object' ? raw?.insertId : raw) ?? 0);
    return { rows: result.records as Rows, affected: result.affected ?? 0, insertId };
  }
  dataSource.logger.logQuery(sql, parameters);
  try {
    return await execute(sql, parameters);
  } catch (error) {
    dataSource.logger.logQueryError(error as Error, sql, parameters);
    throw new QueryFailedError(sql, parameters, error as Error);
  }
}
