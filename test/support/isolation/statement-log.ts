import type { DataSource } from 'typeorm';
import { recordQueries } from '../query-recorder';

export interface LoggedStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** What the test was doing; empty for its own work. */
  readonly phase: string;
}

type Mark = (phase: string) => Promise<void>;

/** The statements that the database runs meanwhile: MariaDB's own log of them, or what SQLite's driver is given. */
export function logStatements(
  dataSource: DataSource,
  work: (mark: Mark) => Promise<void>,
): Promise<LoggedStatement[]> {
  const isSqlite = dataSource.options.type === 'better-sqlite3';
  return isSqlite ? byRecorder(dataSource, work) : byGeneralLog(dataSource, work);
}

async function byRecorder(
  dataSource: DataSource,
  work: (mark: Mark) => Promise<void>,
): Promise<LoggedStatement[]> {
  const mark: Mark = async (phase) => {
    await dataSource.query(markOf(phase));
  };
  return inPhases(await recordQueries(dataSource, () => work(mark)));
}

/** A statement that says in the log what comes next. */
function markOf(phase: string): string {
  return `SELECT 'the test does: ${phase}'`;
}

function inPhases(
  queries: readonly { readonly sql: string; readonly parameters: readonly unknown[] }[],
): LoggedStatement[] {
  let phase = '';
  return queries.flatMap(({ sql, parameters }) => {
    const marked = /^SELECT 'the test does: (.*)'$/.exec(sql);
    if (!marked) return [{ sql, parameters, phase }];
    phase = marked[1]!;
    return [];
  });
}

/** Other tests may use the same server: only connections to this database count. */
async function byGeneralLog(
  dataSource: DataSource,
  work: (mark: Mark) => Promise<void>,
): Promise<LoggedStatement[]> {
  const threads = new Set<string>();
  const seeThreads = async () => {
    const rows = await dataSource.query<{ id: number | string }[]>(
      'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE DB = DATABASE()',
    );
    for (const { id } of rows) threads.add(String(id));
  };
  const began = await dataSource.query<{ now: string }[]>('SELECT CAST(NOW(6) AS CHAR) AS now');
  await dataSource.query("SET GLOBAL log_output = 'TABLE'");
  await dataSource.query('SET GLOBAL general_log = ON');
  try {
    await work(async (phase) => {
      await seeThreads();
      await dataSource.query(markOf(phase));
    });
    await seeThreads();
  } finally {
    await dataSource.query('SET GLOBAL general_log = OFF');
  }
  const rows = await dataSource.query<{ sql: string; thread: number | string }[]>(
    `SELECT CONVERT(argument USING utf8mb4) AS 'sql', thread_id AS thread FROM mysql.general_log
      WHERE command_type IN ('Query', 'Execute') AND event_time >= ?`,
    [began[0]!.now],
  );
  const own = rows.filter(({ thread }) => threads.has(String(thread)));
  return inPhases(own.map(({ sql }) => ({ sql, parameters: [] })));
}
