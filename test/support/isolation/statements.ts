import { FindOperator, type DataSource, type ObjectLiteral } from 'typeorm';
import { SqlStatement, type Where } from '../../../src/database/sql-statement';
import { PLATFORM_TENANT } from '../../../src/tenancy/tenant-code';
import { recordQueries, type RecordedQuery } from '../query-recorder';

/** Every table that has rows of tenants, that of the tenants included. */
export function tablesOfTenants(dataSource: DataSource): string[] {
  return dataSource.entityMetadatas
    .filter((metadata) => metadata.findColumnWithPropertyName('tenantId'))
    .map(({ tableName }) => tableName);
}

/** Tenants of which a row must have one. */
type Binding = readonly string[];

export interface ScopedQuery extends RecordedQuery {
  /** Each holds by itself; there is none where the statement can reach the rows of any tenant. */
  readonly bindings: readonly Binding[];
}

/** The statements that are sent while `work` runs, each with the tenants that `SqlStatement` was given to write it. */
export async function recordScopes(
  dataSource: DataSource,
  work: () => Promise<unknown>,
): Promise<ScopedQuery[]> {
  const { prototype } = SqlStatement;
  const [where, place, run] = [
    jest.spyOn(prototype, 'where'),
    jest.spyOn(prototype, 'place'),
    jest.spyOn(prototype, 'run'),
  ];
  try {
    const sent = await recordQueries(dataSource, work);
    const conditions = new Map<unknown, Binding[]>();
    for (const [index, all] of where.mock.calls.entries())
      conditions.set(where.mock.contexts[index], (all as Where<ObjectLiteral>[]).flatMap(bindingsIn));
    const stamps = new Map<unknown, string[]>();
    for (const [index, [{ propertyName }, value]] of place.mock.calls.entries()) {
      const statement: unknown = place.mock.contexts[index];
      if (propertyName === 'tenantId')
        stamps.set(statement, [...(stamps.get(statement) ?? []), String(value)]);
    }
    const written = run.mock.calls.map(([, sql], index): ScopedQuery => {
      const statement = run.mock.contexts[index] as SqlStatement;
      const stamped = stamps.get(statement);
      const bindings = conditions.get(statement) ?? (stamped ? [stamped] : []);
      return { sql, parameters: statement.values, bindings };
    });
    const texts = new Set(written.map(({ sql }) => sql));
    const byHand = sent.filter(({ sql }) => !texts.has(sql));
    return [...written, ...byHand.map((query) => ({ ...query, bindings: [] }))];
  } finally {
    for (const spy of [where, place, run]) spy.mockRestore();
  }
}

/** What the tenant must be for a condition to hold. Of alternatives, each must say it. */
function bindingsIn(where: Where<ObjectLiteral>): Binding[] {
  if (Array.isArray(where)) {
    const each = where.map((alternative: Where<ObjectLiteral>) => bindingsIn(alternative)[0]);
    return each.every((binding) => binding !== undefined) ? [each.flat()] : [];
  }
  const { tenantId, ancestors, lineage } = where as Record<string, unknown>;
  // A path that names a tenant: it is above.
  const above = [ancestors, lineage].flatMap((path) =>
    path instanceof FindOperator ? Object.values<unknown>(path.objectLiteralParameters ?? {}) : [],
  );
  const codes: unknown =
    tenantId instanceof FindOperator && tenantId.type === 'in' ? tenantId.value : tenantId;
  return [
    ...(typeof codes === 'string' || Array.isArray(codes)
      ? [[codes].flat(1).map((code: unknown) => String(code))]
      : []),
    ...above.map((path) => [String(path).replaceAll(',', '')]),
  ];
}

/** Statements and sub-selects that may do without a tenant, each for a reason; without quotes, values as `?`. */
const EXEMPT: readonly RegExp[] = [
  // New codes are drawn among those of all tenants; it reads nothing but the codes that were drawn.
  /^SELECT DISTINCT t\.tenant_id AS value FROM tenantry_tenant t WHERE t\.tenant_id IN \(\?[?, ]*\)$/,
  // A new id is greater than that of every tenant; it reads nothing but the greatest.
  /^SELECT t\.id AS id FROM tenantry_tenant t WHERE t\.id >= \? AND LENGTH\(t\.id\) = LENGTH\(\?\) ORDER BY t\.id DESC LIMIT \?$/,
  // The path of a deleted tenant may be old: whether the caller reaches it is asked of its parents, one by one.
  /^SELECT [\w., ]* FROM tenantry_tenant t WHERE t\.(id|tenant_id) = \? AND t\.del_flag = \? LIMIT \?$/,
  /^SELECT t\.tenant_parent AS tenantParent FROM tenantry_tenant t WHERE t\.tenant_id = \? AND t\.del_flag = \?$/,
  /^UPDATE tenantry_tenant SET [\w=?+, ]* WHERE id = \? AND del_flag = \?$/,
  // Whether a tenant has children is asked of a row that is bound itself.
  /\(SELECT 1 FROM tenantry_tenant child(?: FORCE INDEX \(ix_tenant_children\))? WHERE child\.del_flag = '' AND child\.tenant_parent = t\.tenant_id ORDER BY child\.id LIMIT 1\)/,
  // A refresh token says its session, and only the session says the tenant.
  /^SELECT [\w., ]* FROM tenantry_session t WHERE t\.session_id = \? LIMIT \?$/,
  // Wrong passwords count by a hash that the tenant is part of, also for names that no tenant has.
  /^SELECT [\w., ]* FROM tenantry_failed_sign_in t WHERE t\.account_hash = \? AND t\.client = \? AND t\.failed_at > \? ORDER BY t\.failed_at DESC LIMIT \?$/,
  /^INSERT (OR IGNORE |IGNORE )?INTO tenantry_failed_sign_in\([\w, ]*\) VALUES \([?, ]*\)( ON CONFLICT DO NOTHING)?$/,
  /^UPDATE tenantry_failed_sign_in SET account_hash = \? WHERE account_hash = \?( AND client = \?)?$/,
  // A key says only its secret, and only its row says the tenant.
  /^SELECT [\w., ]* FROM tenantry_key t WHERE t\.secret_hash = \? AND t\.del_flag = \? AND t\.status = \?$/,
  // How far the journals of the caller's tenant and of the platform go: numbers alone.
  /^SELECT t\.tenant_id AS code, t\.tree_ver AS version, \(SELECT c\.prev FROM tenantry_change c WHERE c\.tenant_id = t\.tenant_id ORDER BY c\.version, c\.seq LIMIT 1\) AS kept FROM tenantry_tenant t WHERE t\.tenant_id IN \(\?[?, ]*\)$/,
  // The counters of a new tenant, whose code no tenant has yet.
  /^INSERT INTO tenantry_quota \([\w, ]*\) VALUES (\([?, ]*\)(, )?){6}$/,
  // Of no request: every second it is asked whether there is any webhook to send to.
  /^SELECT 1 AS one FROM tenantry_webhook t WHERE t\.status = \? LIMIT \?$/,
];

/** What is written by hand: a sub-select of one tenant, or a short statement; all after the tenant narrows it. */
const BY_HAND =
  /\b(?:FROM|UPDATE) (\w+)(?: (?!SET)(\w+)(?: (?:FORCE INDEX|INDEXED BY) \S+)?)?(?: SET (?:(?! WHERE ).)*)? WHERE (?:\2\.)?tenant_id = (\?|t\.tenant_id)(?![^()]* OR )(?= AND | ORDER | LIMIT | RETURNING |\)|$)/g;

/** Statements that reach rows of tenants without saying whose, or rows of other tenants than these; null allows any. */
export function statementProblems(
  dataSource: DataSource,
  statements: readonly ScopedQuery[],
  tenants: ReadonlySet<string> | null,
): string[] {
  const access = new RegExp(
    `\\b(?:FROM|JOIN|UPDATE|INTO) (${tablesOfTenants(dataSource).join('|')})\\b`,
    'g',
  );
  const problems = statements.flatMap(({ sql, parameters, bindings }) => {
    const texts = sql.replace(/'[^']*'/g, "''").replace(/\$\d+/g, '?');
    const times = texts.replace(/CAST\((\S+) AS CHAR\)/g, '$1');
    const plain = times.replace(/[`"]/g, '').replace(/\s+/g, ' ');
    const isInsert = plain.startsWith('INSERT');
    const told: (string | null)[] = [];
    const left = EXEMPT.reduce((text, pattern) => text.replace(pattern, ''), plain);
    const rest = left.replace(BY_HAND, (text, table: string, _alias: string, code: string, at: number) => {
      // Of a statement that has its tenant, only the sub-selects: what else it asks for is the caller's choice.
      if (bindings.length > 0 && !/\(SELECT (?:(?! FROM ).)*$/.test(left.slice(0, at))) return text;
      const place = (left.slice(0, at) + text).split('?').length - 2;
      if (code === '?') told.push(problemOf(isInsert, table, [[String(parameters[place])]], tenants));
      return '';
    });
    const [own, other] = [...rest.matchAll(access)];
    if (own) told.push(problemOf(isInsert, own[1]!, bindings, tenants));
    if (other) told.push(`${other[1]} is reached, too`);
    return told.filter((problem) => problem !== null).map((problem) => `${problem}: ${plain.slice(0, 600)}`);
  });
  return [...new Set(problems)];
}

function problemOf(
  isInsert: boolean,
  table: string,
  bindings: readonly Binding[],
  tenants: ReadonlySet<string> | null,
): string | null {
  if (bindings.length === 0) return `${table} without a tenant`;
  // No tenant has the code of a new one yet.
  if (tenants === null || (isInsert && table === 'tenantry_tenant')) return null;
  // What is done to tenants stands in the journal of the platform.
  const isNoted = table === 'tenantry_tenant' || (isInsert && table === 'tenantry_change');
  const isOwn = (code: string) => tenants.has(code) || (isNoted && code === PLATFORM_TENANT);
  const isBound = bindings.some((binding) => binding.every(isOwn));
  return isBound ? null : `${table} of ${bindings.join(' or ')}`;
}
