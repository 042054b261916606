import type { DataSource } from 'typeorm';

/** Sent when a connection is opened, not by a request. */
const SET_UP = /^(SET|SHOW) /;

/** The statements that MariaDB runs while `work` runs, in order, this connection's own and preparing aside. */
export async function statementsOf(dataSource: DataSource, work: () => Promise<unknown>): Promise<string[]> {
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
    return rows.map(({ text }) => text).filter((text) => !SET_UP.test(text));
  } finally {
    await runner.query('SET GLOBAL general_log = OFF');
    await runner.release();
  }
}

/** What a statement does to which table. */
export function shapeOf(statement: string): string {
  const words = statement.replaceAll('`', '');
  const [verb = ''] = words.split(/\s/, 1);
  const table = /\b(tenantry_\w+)/.exec(words)?.[1];
  return table === undefined ? words : `${verb} ${table}`;
}

/** The state of a caller and its tenant is remembered for five seconds: no request is told by these. */
const STATE_LOOKUP = /^SELECT tenantry_(account|session|tenant)$/;

/** Shapes of statements without the lookups of what is remembered; only for work that reads none of these tables itself. */
export function withoutStateLookups(statements: readonly string[]): string[] {
  return statements.map(shapeOf).filter((shape) => !STATE_LOOKUP.test(shape));
}
