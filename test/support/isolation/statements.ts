import type { DataSource } from 'typeorm';
import { PLATFORM_TENANT } from '../../../src/tenancy/tenant-code';
import { until } from '../until';
import { recordQueries } from '../query-recorder';
import { accessesOf, type Access, type Binding } from './tenant-statements';

interface LoggedStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** What the test was doing; empty for its own work. */
  readonly phase: string;
}

type Mark = (phase: string) => Promise<void>;

/** Every table that has rows of tenants, that of the tenants included. */
export function tablesOfTenants(dataSource: DataSource): string[] {
  return dataSource.entityMetadatas
    .filter((metadata) => metadata.findColumnWithPropertyName('tenantId'))
    .map(({ tableName }) => tableName);
}

/** The statements that the database runs meanwhile: a server's own log of them, or what SQLite's driver is given. */
export async function logStatements(
  dataSource: DataSource,
  work: (mark: Mark) => Promise<void>,
): Promise<LoggedStatement[]> {
  const { type } = dataSource.options;
  if (type === 'postgres') return byPostgresLog(dataSource, work);
  if (type !== 'better-sqlite3') return byGeneralLog(dataSource, work);
  const mark: Mark = async (phase) => {
    await dataSource.query(markOf(phase));
  };
  return inPhases(await recordQueries(dataSource, () => work(mark)));
}

/** A statement that says in the log what comes next. */
function markOf(phase: string): string {
  return `SELECT 'the test does: ${phase}'`;
}

function inPhases(queries: readonly Omit<LoggedStatement, 'phase'>[]): LoggedStatement[] {
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
  // The log tells values only of statements that are prepared from now on: by new connections.
  await seeThreads();
  const old = [...threads];
  const endOld = async (): Promise<boolean> => {
    threads.clear();
    await seeThreads();
    const left = old.filter((id) => threads.has(id));
    for (const id of left) await dataSource.query(`KILL ${id}`);
    return left.length === 0;
  };
  // The connection that kills is among them, and then fails.
  await until(() => endOld().catch(() => false));
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

/** A line of PostgreSQL's log; the values of a prepared statement are its detail. */
interface LogLine {
  readonly dbname?: string;
  readonly message: string;
  readonly detail?: string;
}

async function byPostgresLog(
  dataSource: DataSource,
  work: (mark: Mark) => Promise<void>,
): Promise<LoggedStatement[]> {
  const textOf = async (sql: string): Promise<string> => {
    const [row] = await dataSource.query<{ text: string | null }[]>(`SELECT (${sql})::text AS text`);
    return row!.text ?? '';
  };
  const setLog = async (statements: 'all' | 'none'): Promise<void> => {
    await dataSource.query(`ALTER SYSTEM SET log_statement = '${statements}'`);
    await dataSource.query('SELECT pg_reload_conf()');
    await until(async () => (await textOf(`current_setting('log_statement')`)) === statements);
  };
  const mark: Mark = async (phase) => {
    await dataSource.query(markOf(phase));
  };
  const file = await textOf(`pg_current_logfile('jsonlog')`);
  const start = await textOf(`SELECT size FROM pg_stat_file('${file}')`);
  await setLog('all');
  let log = '';
  try {
    await work(mark);
    // The log is written by a process of its own.
    await mark('end');
    await until(async () => {
      log = await textOf(`pg_read_file('${file}', ${start}, 1000000000)`);
      return log.includes(markOf('end'));
    });
  } finally {
    await setLog('none');
  }
  const lines = log.split('\n').filter((line) => line.endsWith('}'));
  const own = lines
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ dbname }) => dbname === dataSource.options.database);
  return inPhases(own.flatMap(statementIn));
}

function statementIn({ message, detail = '' }: LogLine): Omit<LoggedStatement, 'phase'>[] {
  const [, sql] = /^(?:statement|execute [^:]+): (.*)$/s.exec(message) ?? [];
  if (sql === undefined) return [];
  const values = detail.matchAll(/\$\d+ = (?:'((?:[^']|'')*)'|NULL)/g);
  return [{ sql, parameters: [...values].map(([, text]) => text?.replaceAll("''", "'") ?? null) }];
}

/** Statements that may do without a tenant, each for a reason of its own; without quotes, values as `?`. */
const EXEMPT: readonly RegExp[] = [
  // New codes are drawn among those of all tenants; it reads nothing but the codes that were drawn.
  /^SELECT DISTINCT t\.tenant_id AS value FROM tenantry_tenant t WHERE t\.tenant_id IN \(\?[?, ]*\)$/,
  // A new id is greater than that of every tenant; it reads nothing but the greatest.
  /^SELECT t\.id AS id FROM tenantry_tenant t WHERE t\.id >= \? AND LENGTH\(t\.id\) = LENGTH\(\?\) ORDER BY t\.id DESC LIMIT (1|\?)$/,
  // The path of a deleted tenant may be old: whether the caller reaches it is asked of its parents, one by one.
  /^SELECT [\w., ]* FROM tenantry_tenant t WHERE t\.(id|tenant_id) = \? AND t\.del_flag = \? LIMIT (1|\?)$/,
  /^SELECT t\.tenant_parent AS tenantParent FROM tenantry_tenant t WHERE t\.tenant_id = \? AND t\.del_flag = \?$/,
  /^UPDATE tenantry_tenant SET [\w=?+, ]* WHERE id = \? AND del_flag = \?$/,
  // Whether a tenant has children is asked of a row that is bound itself.
  /\(SELECT 1 FROM tenantry_tenant child(?: FORCE INDEX \(ix_tenant_children\))? WHERE child\.del_flag = \? AND child\.tenant_parent = t\.tenant_id ORDER BY child\.id LIMIT (1|\?)\)/,
  // A refresh token says its session, and only the session says the tenant.
  /^SELECT [\w., ]* FROM tenantry_session t WHERE t\.session_id = \? LIMIT (1|\?)$/,
  // How far the journals of the caller's tenant and of the platform go: numbers alone.
  /^SELECT t\.tenant_id AS code, t\.tree_ver AS version, \(SELECT c\.prev FROM tenantry_change c WHERE c\.tenant_id = t\.tenant_id ORDER BY c\.version, c\.seq LIMIT (1|\?)\) AS kept FROM tenantry_tenant t WHERE t\.tenant_id IN \(\?[?, ]*\)$/,
  // The six counters of a new tenant, whose code no tenant has yet.
  /^INSERT INTO tenantry_quota \([\w, ]*\) VALUES (\([?\d, -]*\)(, )?){6}$/,
  // Of no request: every second it is asked whether there is any webhook to send to.
  /^SELECT 1 AS one FROM tenantry_webhook t WHERE t\.status = \? LIMIT (1|\?)$/,
];

/** Who was at work, and the tenants whose rows that may concern; null where any tenant may be named, as in signing in. */
export type Phases = ReadonlyMap<string, ReadonlySet<string> | null>;

/** Statements that reach rows of tenants without saying whose, or rows of other tenants than the one at work. */
export function statementProblems(
  dataSource: DataSource,
  statements: readonly LoggedStatement[],
  phases: Phases,
): string[] {
  const owned = new Set(tablesOfTenants(dataSource));
  const problems = statements
    .filter(({ phase, sql }) => phases.has(phase) && !isExempt(sql))
    .flatMap((statement) =>
      accessesOf(statement.sql, owned)
        .map((access) => problemOf(access, statement, phases.get(statement.phase) ?? null))
        .filter((problem) => problem !== null)
        .map((problem) => `${statement.phase}: ${problem}: ${statement.sql.slice(0, 600)}`),
    );
  return [...new Set(problems)];
}

function isExempt(sql: string): boolean {
  const values = sql.replace(/'(?:[^'\\]|''|\\.)*'/g, '?');
  const plain = values.replace(/\$\d+/g, '?').replace(/[`"]/g, '').replace(/\s+/g, ' ');
  return EXEMPT.some((pattern) => pattern.test(plain));
}

function problemOf(
  { table, isInsert, bindings }: Access,
  { sql, parameters }: LoggedStatement,
  tenants: ReadonlySet<string> | null,
): string | null {
  if (bindings.length === 0) return `${table} without a tenant`;
  // No tenant has the code of a new one yet.
  if (tenants === null || (isInsert && table === 'tenantry_tenant')) return null;
  // What is done to tenants stands in the journal of the platform.
  const isNoted = table === 'tenantry_change' && /^INSERT INTO .?tenantry_change/.test(sql);
  const isOwn = (code: string) =>
    tenants.has(code) || ((table === 'tenantry_tenant' || isNoted) && code === PLATFORM_TENANT);
  const told = (binding: Binding) =>
    binding.map((each) => String(typeof each === 'number' ? parameters[each] : each).replaceAll(',', ''));
  const isBound = bindings.some((binding) => told(binding).every(isOwn));
  return isBound ? null : `${table} of ${bindings.map(told).join(' or ')}`;
}
