import type { DataSource } from 'typeorm';
import { isPostgres } from './sql';

/** Sent when a connection is opened, not by a request. */
const SET_UP = /^(SET|SHOW) /;

type Work = () => Promise<unknown>;

/** The statements that the database runs while `work` runs, those of this DataSource and preparing aside. */
export async function statementsOf(dataSource: DataSource, work: Work): Promise<string[]> {
  const all = await (isPostgres(dataSource) ? countedOf(dataSource, work) : loggedOf(dataSource, work));
  return all.filter((text) => !SET_UP.test(text));
}

/** From PostgreSQL's counts of statements, not in order. */
async function countedOf(dataSource: DataSource, work: Work): Promise<string[]> {
  await dataSource.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await dataSource.query('SELECT pg_stat_statements_reset()');
  await work();
  const rows = await dataSource.query<{ query: string; calls: string }[]>(
    `SELECT query, calls FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
      WHERE datname = current_database() AND query NOT LIKE '%pg_stat_statements%'`,
  );
  return rows.flatMap(({ query, calls }) => Array<string>(Number(calls)).fill(query));
}

/** From MariaDB's log, in order. */
async function loggedOf(dataSource: DataSource, work: Work): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query("SET GLOBAL log_output = 'TABLE'");
    await runner.query('TRUNCATE TABLE mysql.general_log');
    await runner.query('SET GLOBAL general_log = ON');
    await work();
    await runner.query('SET GLOBAL general_log = OFF');
    const rows = (await runner.query(
      `SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log
        WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID()`,
    )) as { text: string }[];
    return rows.map(({ text }) => text);
  } finally {
    await runner.query('SET GLOBAL general_log = OFF');
    await runner.release();
  }
}

/** What a statement does to which table. */
function shapeOf(statement: string): string {
  const words = statement.replaceAll('`', '');
  const [verb = ''] = words.split(/\s/, 1);
  const table = /\b(tenantry_\w+)/.exec(words)?.[1];
  return table === undefined ? words : `${verb} ${table}`;
}

/** `SELECT tenantry_dept; 3 × INSERT tenantry_dept`: those that follow each other by turns are counted. */
export function listOf(shapes: readonly string[]): string {
  const runs: { shape: string; count: number }[] = [];
  for (const shape of shapes) {
    const [before, last] = runs.slice(-2);
    const same = [last, before].find((run) => run?.shape === shape);
    if (same) same.count += 1;
    else runs.push({ shape, count: 1 });
  }
  return runs.map(({ shape, count }) => (count === 1 ? shape : `${count} × ${shape}`)).join('; ');
}

/** The shapes of statements, apart from the poll for webhooks: it runs in the background, while a baseline works, too. */
export function shapesOf(statements: readonly string[]): string[] {
  return statements.map(shapeOf).filter((shape) => shape !== 'SELECT tenantry_webhook');
}

/** The state of a caller and its tenant is cached for five seconds. */
const STATE_LOOKUP = /^SELECT tenantry_(account|session|tenant)$/;

/** Shapes without the lookups of what is cached; only for work that reads none of these tables itself. */
export function withoutStateLookups(statements: readonly string[]): string[] {
  return shapesOf(statements).filter((shape) => !STATE_LOOKUP.test(shape));
}
