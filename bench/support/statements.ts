import type { DataSource } from 'typeorm';

/**
 * The statements that the server runs while `work` runs, whichever protocol they come by; this connection's own, and the
 * preparing of statements that are then executed, do not count.
 */
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
    return rows.map(({ text }) => text);
  } finally {
    await runner.query('SET GLOBAL general_log = OFF');
    await runner.release();
  }
}

/** The same without what only now and then falls into a request. */
export async function ownStatementsOf(
  dataSource: DataSource,
  work: () => Promise<unknown>,
): Promise<string[]> {
  return (await statementsOf(dataSource, work)).filter((each) => !isAdmission(each));
}

/**
 * Whether it looks up the state of a tenant: that is remembered for five seconds, so no request is told by it.
 */
export function isAdmission(statement: string): boolean {
  return shapeOf(statement) === 'SELECT tenantry_tenant';
}

/** What a statement does to which table, whoever wrote it. */
export function shapeOf(statement: string): string {
  const words = statement.replaceAll('`', '');
  const [verb = ''] = words.split(/\s/, 1);
  const table = /\b(tenantry_\w+)/.exec(words)?.[1];
  return table === undefined ? words : `${verb} ${table}`;
}
