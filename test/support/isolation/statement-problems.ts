import type { DataSource } from 'typeorm';
import { PLATFORM_TENANT } from '../../../src/tenancy/tenant-code';
import { tablesOfTenants } from './rows';
import type { LoggedStatement } from './statement-log';
import { accessesOf, type Access, type Binding } from './tenant-statements';

/** Statements that may do without a tenant, each for a reason of its own; without quotes, values as `?`. */
const EXEMPT: readonly (readonly [RegExp, string])[] = [
  [
    /^SELECT .* FROM tenantry_tenant t WHERE t\.tenant_id IN \(\?[?, ]*\) AND 1=1$/,
    'new codes are drawn among those of all tenants; it reads nothing but the codes that were drawn',
  ],
  [
    /^SELECT t\.id AS t_id FROM tenantry_tenant t WHERE t\.id >= \? AND LENGTH\(t\.id\) = LENGTH\(\?\) AND 1=1 ORDER BY t_id DESC LIMIT 1$/,
    'a new id is greater than that of every tenant; it reads nothing but the greatest',
  ],
  [
    /EXISTS \(SELECT 1 FROM tenantry_tenant child WHERE child\.del_flag = \? AND child\.tenant_parent = t\.tenant_id\)/,
    'whether a tenant has children is asked of a row that is bound itself',
  ],
  [
    /^SELECT .* FROM tenantry_session SessionEntity WHERE \(?\(?\(?SessionEntity\.session_id = \?\)?\)?\)?( LIMIT 1)?$/,
    'a refresh token says its session, and only the session says the tenant',
  ],
];

/** Who was at work, and the tenants whose rows that may concern; null where anybody may name any, as in signing in. */
export type Phases = ReadonlyMap<string, ReadonlySet<string> | null>;

/** Statements that reach rows of tenants without saying whose, or rows of others than the one who was at work. */
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
  const plain = sql
    .replace(/'(?:[^'\\]|''|\\.)*'/g, '?')
    .replace(/[`"]/g, '')
    .replace(/\s+/g, ' ');
  return EXEMPT.some(([pattern]) => pattern.test(plain));
}

function problemOf(
  { table, isInsert, bindings }: Access,
  { parameters }: LoggedStatement,
  tenants: ReadonlySet<string> | null,
): string | null {
  if (bindings.length === 0) return `${table} without a tenant`;
  // A new tenant's code is nobody's yet.
  if (tenants === null || (isInsert && table === 'tenantry_tenant')) return null;
  const isOwn = (code: string) =>
    tenants.has(code) || (table === 'tenantry_tenant' && code === PLATFORM_TENANT);
  const told = (binding: Binding) =>
    binding.map((each) => String(typeof each === 'number' ? parameters[each] : each).replaceAll(',', ''));
  return bindings.some((binding) => told(binding).every(isOwn))
    ? null
    : `${table} of ${bindings.map(told).join(' or ')}`;
}
