import { randomBytes } from 'node:crypto';
import { In, type DataSource, type EntityManager } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { tableName } from '../database/columns';
import { dialectOf } from '../database/dialects';
import { chunksOf, inChunks } from '../database/in-chunks';
import { dataSourceOf } from '../database/tenantry.data-source';
import type { UnitOfWork } from '../database/unit-of-work';
import type { Refusal } from '../errors/refusal';
import { PartErrors } from '../tenancy/access.errors';
import { holdsDept, type DataScopePart } from '../tenancy/data-scope';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound, type TenantOwned } from '../tenancy/tenant-bound';

/** What of a caller the owner of a row is compared with. */
export type OwnerIs = 'subject' | 'username';

const NUMERIC =
  /^((tiny|small|medium|big|unsigned big )?int|integer|int[248]|decimal|dec|numeric|fixed|number|float[48]?|double( precision)?|real)$/i;

export function isNumeric(column: ColumnMetadata | undefined): boolean {
  return column?.type === Number || NUMERIC.test(String(column?.type));
}

/** A piece of SQL with its parameters. */
export interface Condition {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A column in a statement. */
export interface NamedColumn {
  /** As SQL has it. */
  readonly name: string;
  /** Unknown of a table without an entity. */
  readonly column?: ColumnMetadata | undefined;
}

/** Nobody can guess the names of the parameters, so that none that comes with a request takes the place of another. */
const PREFIX = `scope_${randomBytes(8).toString('hex')}_`;
let made = 0;

/** A piece of SQL whose `:names` get names of their own; lists are `:...name`. */
export function condition(sql: string, values: Readonly<Record<string, unknown>>): Condition {
  made += 1;
  const prefix = `${PREFIX}${made}_`;
  const entries = Object.entries(values).map(([name, value]) => [prefix + name, value]);
  return {
    sql: sql.replace(/:(\.\.\.)?(\w+)/g, `:$1${prefix}$2`),
    parameters: Object.fromEntries(entries) as Condition['parameters'],
  };
}

/** All of these conditions, or any of them. */
export function joined(conditions: readonly Condition[], by: 'AND' | 'OR'): Condition {
  return {
    sql: `(${conditions.map(({ sql }) => sql).join(` ${by} `)})`,
    parameters: Object.assign(
      {},
      ...conditions.map(({ parameters }) => parameters),
    ) as Condition['parameters'],
  };
}

/** That rows with this department, or of this owner, are in the caller's data scope; null where nothing limits the caller. */
export function scopeCondition(
  dataSource: DataSource,
  ctx: RequestContext,
  dept: string,
  owner: { readonly is: NamedColumn; readonly ownerIs?: OwnerIs | undefined } | null,
): Condition | null {
  if (!ctx.dataScope) return null;
  const isOwner = owner && hasOwn(ctx) ? ownerCondition(ctx, owner.is, owner.ownerIs) : null;
  const conditions = [isOwner, deptCondition(dataSource, ctx, dept)].filter((each) => each !== null);
  return conditions.length > 0 ? joined(conditions, 'OR') : { sql: '1 = 0', parameters: {} };
}

export function hasOwn({ dataScope }: RequestContext): boolean {
  return !!dataScope?.some(({ kind }) => kind === 'own');
}

const DIGITS = /^(0|[1-9][0-9]{0,18})$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** That the caller owns rows; null where the column cannot hold what the caller is called. */
function ownerCondition(
  ctx: RequestContext,
  { name, column }: NamedColumn,
  ownerIs: OwnerIs = 'subject',
): Condition | null {
  // Compared as texts: as a number, MySQL would take '12abc' for 12.
  if (!column) return condition(`CONCAT(${name}, '') = :owner`, { owner: ctx[ownerIs] });
  const owner = storedOwner(ctx, column, ownerIs);
  if (owner === null) return null;
  // Digits alone are written out: a parameter would be of the column's type on PostgreSQL, and fail where it is too large for it.
  return isNumeric(column) ? condition(`${name} = ${owner}`, {}) : condition(`${name} = :owner`, { owner });
}

/** What the column of a row that the caller owns holds; null where it can hold no such thing. */
function storedOwner(
  ctx: RequestContext,
  column: ColumnMetadata,
  ownerIs: OwnerIs = 'subject',
): string | null {
  const text = ctx[ownerIs];
  const isNumber = isNumeric(column) && DIGITS.test(text) && Number.isSafeInteger(Number(text));
  const owner = stored(column, isNumber ? Number(text) : text);
  const isHeld = isNumeric(column) ? DIGITS : column.type === 'uuid' ? UUID : /^/;
  return owner !== null && isHeld.test(owner) ? owner : null;
}

/** Whether rows of this owner, as the column stores it, are in the caller's scope, whatever their department is. */
export function isOwner(
  ctx: RequestContext,
  column: ColumnMetadata,
  owner: string | null,
  ownerIs?: OwnerIs,
): boolean {
  return owner !== null && hasOwn(ctx) && owner === storedOwner(ctx, column, ownerIs);
}

/** A value as its column stores it, as a text; null where a transformer does not take it. */
export function stored(column: ColumnMetadata, value: unknown): string | null {
  try {
    const { driver } = dataSourceOf(column.entityMetadata);
    const kept = driver.preparePersistentValue(value, column) as
      string | number | bigint | Buffer | null | undefined;
    // Of bytes no text tells two apart.
    return kept === null || kept === undefined || Buffer.isBuffer(kept) ? null : String(kept);
  } catch {
    return null;
  }
}

/**
 * That a department is in the caller's data scope: a live one of the tenant that the scope names, or whose path names one of those
 * below which all are in it. Null where the scope names none.
 *
 * The subquery gives one value by the department's key, so that every database walks the host's index in the order that was asked for, and looks
 * at each row once. Of EXISTS and IN databases make a join, and read and sort all rows of a large scope for a page of 50.
 */
export function deptCondition(dataSource: DataSource, ctx: RequestContext, dept: string): Condition | null {
  const [named, tops] = [idsIn(ctx), idsIn(ctx, true)];
  if (named.length === 0) return null;
  const escape = (name: string) => dataSource.driver.escape(name);
  // A name that nobody can guess: one of a host would hide the table.
  const alias = escape(`${PREFIX}dept`);
  const d = (column: string) => `${alias}.${escape(column)}`;
  const path = `CONCAT(${d('ancestors')}, ',', ${d('dept_id')}, ',')`;
  const isWithin = tops.map((_, at) => `${dialectOf(dataSource).instr}(${path}, :top${at}) > 0`);
  // In groups, because SQLite takes only so many alternatives one after the other.
  const groups = [...chunksOf(isWithin, 50)].map((group) => `(${group.join(' OR ')})`);
  const isHeld = [`${d('dept_id')} IN (:...named)`, ...groups].join(' OR ');
  const table = tableName(dataSource, dataSource.getMetadata(DEPT).tableName);
  const sql = `(SELECT 1 FROM ${table} ${alias}
    WHERE ${d('dept_id')} = ${dept} AND ${d('tenant_id')} = :tenant AND ${d('del_flag')} = '0' AND (${isHeld}) LIMIT 1) = 1`;
  const values = { named, tenant: ctx.tenantId };
  for (const [at, top] of tops.entries()) Object.assign(values, { [`top${at}`]: `,${top},` });
  // Where the scope names all of its departments, an index that begins with them can be used.
  return condition(tops.length > 0 ? sql : `(${dept} IN (:...named) AND ${sql})`, values);
}

/** The departments that a data scope names, or those of them below which all are in it. */
export function idsIn({ dataScope }: RequestContext, isBelow = false): number[] {
  const idsOf = (part: DataScopePart): readonly number[] =>
    part.kind === 'depts' && (part.below || !isBelow) ? part.deptIds : [];
  return [...new Set((dataScope ?? []).flatMap(idsOf))];
}

/** By name, because departments are in a room below. */
const DEPT = 'TenantryDept';

interface DeptPath extends TenantOwned {
  deptId: number;
  ancestors: string;
  delFlag: string;
}

/** Of these departments the live ones of the caller's tenant, and whether the caller's data scope holds them. */
export async function scopedDepts(
  source: EntityManager | UnitOfWork,
  ctx: RequestContext,
  deptIds: readonly number[],
): Promise<ReadonlyMap<number, boolean>> {
  const depts = new TenantBound<DeptPath>(source, DEPT, ctx);
  const ids = [...new Set(deptIds.filter((deptId) => Number.isSafeInteger(deptId)))];
  const found = await inChunks(ids, (chunk) =>
    depts.pick({ deptId: In([...chunk]), delFlag: '0' }, ['deptId', 'ancestors'], { index: 'PRIMARY' }),
  );
  return new Map(found.map((dept) => [dept.deptId, holdsDept(ctx.dataScope, dept)]));
}

/** The name of a column as SQL has it, with the alias of its table, or in a statement that writes and knows no alias, with the table. */
export function nameIn({ driver }: DataSource, table: string, column: string): string {
  return [...table.split('.'), column].map((name) => driver.escape(name)).join('.');
}

/** The refusal of departments outside of a caller's data scope. */
export function outsideScope(deptIds: readonly (number | null)[]): Refusal {
  const ids = [...new Set(deptIds)].filter((deptId) => Number.isSafeInteger(deptId)) as number[];
  return PartErrors.OUTSIDE_SCOPE({ ids: ids.sort((a, b) => a - b) });
}
