import type { DataSource } from 'typeorm';
import { PLATFORM_TENANT } from '../../../src/tenancy/tenant-code';
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

/** The statements that the database runs meanwhile: MariaDB's own log of them, or what SQLite's driver is given. */
export async function logStatements(
  dataSource: DataSource,
  work: (mark: Mark) => Promise<void>,
): Promise<LoggedStatement[]> {
  if (dataSource.options.type !== 'better-sqlite3') return byGeneralLog(dataSource, work);
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

/** Statements that may do without a tenant, each for a reason of its own; without quotes, values as `?`. */
const EXEMPT: readonly RegExp[] = [
  // New codes are drawn among those of all tenants; it reads nothing but the codes that were drawn.
  /^SELECT DISTINCT t\.tenant_id AS value FROM tenantry_tenant t WHERE t\.tenant_id IN \(\?[?, ]*\)$/,
  // A new id is greater than that of every tenant; it reads nothing but the greatest.
  /^SELECT t\.id AS id FROM tenantry_tenant t WHERE t\.id >= \? AND LENGTH\(t\.id\) = LENGTH\(\?\) ORDER BY t\.id DESC LIMIT (1|\?)$/,
  // Whether a tenant has children is asked of a row that is bound itself.
  /\(SELECT 1 FROM tenantry_tenant child WHERE child\.del_flag = \? AND child\.tenant_parent = t\.tenant_id ORDER BY child\.id LIMIT (1|\?)\)/,
  // A refresh token says its session, and only the session says the tenant.
  /^SELECT [\w., ]* FROM tenantry_session t WHERE t\.session_id = \? LIMIT (1|\?)$/,
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
  const plain = values.replace(/[`"]/g, '').replace(/\s+/g, ' ');
  return EXEMPT.some((pattern) => pattern.test(plain));
}

function problemOf(
  { table, isInsert, bindings }: Access,
  { parameters }: LoggedStatement,
  tenants: ReadonlySet<string> | null,
): string | null {
  if (bindings.length === 0) return `${table} without a tenant`;
  // No tenant has the code of a new one yet.
  if (tenants === null || (isInsert && table === 'tenantry_tenant')) return null;
  const isOwn = (code: string) =>
    tenants.has(code) || (table === 'tenantry_tenant' && code === PLATFORM_TENANT);
  const told = (binding: Binding) =>
    binding.map((each) => String(typeof each === 'number' ? parameters[each] : each).replaceAll(',', ''));
  const isBound = bindings.some((binding) => told(binding).every(isOwn));
  return isBound ? null : `${table} of ${bindings.map(told).join(' or ')}`;
}
