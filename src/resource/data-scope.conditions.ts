import { randomBytes } from 'node:crypto';
import {
  In,
  type DataSource,
  type EntityManager,
  type EntityMetadata,
  type ObjectLiteral,
  type QueryBuilder,
} from 'typeorm';
import type { Alias } from 'typeorm/query-builder/Alias.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { tableName } from '../database/columns';
import { dialectOf } from '../database/dialects';
import { chunksOf, inChunks } from '../database/in-chunks';
import { dataSourceOf } from '../database/tenantry.data-source';
import type { UnitOfWork } from '../database/unit-of-work';
import type { Refusal } from '../errors/refusal';
import { PartErrors } from '../tenancy/access.errors';
import { holdsDept, type DataScopePart } from '../tenancy/data-scope';
import { RequestContext } from '../tenancy/request-context';
import { TenantBound, type TenantOwned } from '../tenancy/tenant-bound';

/** What of a caller the owner of a row is compared with. */
export type OwnerIs = 'subject' | 'username';

/** What says whether a row is in a caller's data scope. */
export interface DataScopedBy {
  /** The property with the id of the row's department. */
  readonly dept: string;
  /** The property with the row's owner. Without it, nobody owns rows. */
  readonly owner?: string;
  /** What of a caller stands there. Default: `subject`. */
  readonly ownerIs?: OwnerIs;
}

const SCOPED_BY = Symbol.for('tenantry:data-scoped');

/** Limits the rows of a host's entity to the data scope of the caller: in tenant-bound repositories and their query builders. */
export function DataScoped(by: DataScopedBy): ClassDecorator {
  return (entity) => {
    Reflect.defineMetadata(SCOPED_BY, Object.freeze({ ...by }), entity);
  };
}

function scopedBy({ target }: EntityMetadata): DataScopedBy | undefined {
  if (typeof target !== 'function') return undefined;
  return Reflect.getMetadata(SCOPED_BY, target) as DataScopedBy | undefined;
}

/** What is wrong with `@DataScoped` on entities of a DataSource, if anything. */
export function dataScopeProblem({ entityMetadatas }: Pick<DataSource, 'entityMetadatas'>): string | null {
  for (const metadata of entityMetadatas) {
    const by = scopedBy(metadata);
    if (!by) continue;
    const isColumn = (property: string): boolean => !!metadata.findColumnWithPropertyPath(property);
    const missing = ['tenantId', by.dept, by.owner ?? by.dept].find((property) => !isColumn(property));
    if (missing !== undefined)
      return `@DataScoped of ${metadata.name} needs a column for ${missing}, and there is none.`;
    if (!['subject', 'username', undefined].includes(by.ownerIs))
      return `@DataScoped of ${metadata.name} needs 'subject' or 'username' as ownerIs, not ${by.ownerIs}.`;
    if (!isNumeric(metadata.findColumnWithPropertyPath(by.dept)))
      return `@DataScoped of ${metadata.name} needs the ids of departments in ${by.dept}, as numbers.`;
  }
  return null;
}

const NUMERIC =
  /^((tiny|small|medium|big|unsigned big )?int|integer|int[248]|decimal|dec|numeric|fixed|number|float[48]?|double( precision)?|real)$/i;

function isNumeric(column: ColumnMetadata | undefined): boolean {
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

function hasOwn({ dataScope }: RequestContext): boolean {
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

/** A value as its column stores it, as a text; null where a transformer does not take it. */
function stored(column: ColumnMetadata, value: unknown): string | null {
  try {
    const { driver } = dataSourceOf(column.entityMetadata);
    const kept = driver.preparePersistentValue(value, column) as string | number | bigint | null | undefined;
    return kept === null || kept === undefined ? null : String(kept);
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
function deptCondition(dataSource: DataSource, ctx: RequestContext, dept: string): Condition | null {
  const [named, tops] = [idsIn(ctx), idsIn(ctx, true)];
  if (named.length === 0) return null;
  const escape = (name: string) => dataSource.driver.escape(name);
  const d = (column: string) => `${escape('tenantry_scoped')}.${escape(column)}`;
  const path = `CONCAT(${d('ancestors')}, ',', ${d('dept_id')}, ',')`;
  const isWithin = tops.map((_, at) => `${dialectOf(dataSource).instr}(${path}, :top${at}) > 0`);
  // In groups, because SQLite takes only so many alternatives one after the other.
  const groups = [...chunksOf(isWithin, 50)].map((group) => `(${group.join(' OR ')})`);
  const isHeld = [`${d('dept_id')} IN (:...named)`, ...groups].join(' OR ');
  const table = tableName(dataSource, dataSource.getMetadata(DEPT).tableName);
  const sql = `(SELECT 1 FROM ${table} ${escape('tenantry_scoped')}
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

/** Rows of one entity of a host, as the data scope of a caller limits them. */
export class RowScope {
  private constructor(
    private readonly ctx: RequestContext,
    private readonly dept: ColumnMetadata,
    private readonly owner: ColumnMetadata | undefined,
    private readonly ownerIs: OwnerIs | undefined,
  ) {}

  /** Null where nothing limits the caller, or the entity's rows are in every scope. */
  static of(ctx: RequestContext, metadata: EntityMetadata): RowScope | null {
    const by = ctx.dataScope && scopedBy(metadata);
    const dept = by && metadata.findColumnWithPropertyPath(by.dept);
    if (!by) return null;
    if (!dept) throw new Error(dataScopeProblem({ entityMetadatas: [metadata] }) ?? '');
    const owner = by.owner === undefined ? undefined : metadata.findColumnWithPropertyPath(by.owner);
    return new RowScope(ctx, dept, owner, by.ownerIs);
  }

  /** That a row is in the scope; in a builder that reads, under the alias of the entity there. */
  condition(alias?: string): Condition {
    const { ctx, owner, ownerIs } = this;
    const is = owner && { name: this.#nameOf(owner, alias), column: owner };
    const found = scopeCondition(
      this.#dataSource,
      ctx,
      this.#nameOf(this.dept, alias),
      is ? { is, ownerIs } : null,
    );
    if (!found) throw new Error('This caller has no data scope.');
    return found;
  }

  /** That a row is in the scope only because the caller owns it, or has another department than this one. */
  leaving(alias: string, deptId: number | null | undefined): Condition {
    const dept = this.#nameOf(this.dept, alias);
    if (deptId === undefined) {
      const inDept = deptCondition(this.#dataSource, this.ctx, dept);
      return inDept
        ? { ...inDept, sql: `CASE WHEN ${inDept.sql} THEN 0 ELSE 1 END = 1` }
        : { sql: '1 = 1', parameters: {} };
    }
    if (deptId === null) return { sql: `${dept} IS NOT NULL`, parameters: {} };
    // Written out, as the numbers of owners are.
    const isAnother = Number.isSafeInteger(deptId) ? `(${dept} IS NULL OR ${dept} <> ${deptId})` : '1 = 1';
    return { sql: isAnother, parameters: {} };
  }

  /** The department of a row as it is going to be written: undefined where nothing is said of it, NaN where it is no number. */
  deptOf(row: ObjectLiteral): number | null | undefined {
    const value: unknown = this.dept.getEntityValue(row);
    if (value === undefined || value === null) return value;
    return Number(stored(this.dept, value) ?? NaN);
  }

  /** What a row says of its owner, as it is stored: undefined where it says nothing. */
  ownerOf(row: ObjectLiteral): string | null | undefined {
    const value: unknown = this.owner?.getEntityValue(row);
    return this.owner && value !== undefined ? stored(this.owner, value) : undefined;
  }

  /** Whether a change to this owner, if it is one, leaves rows in the scope that are there because the caller owns them. */
  keeps(owner: string | null | undefined): boolean {
    return owner === undefined || !hasOwn(this.ctx) || this.isOwn(owner);
  }

  /** Whether rows of this owner are in the scope, whatever their department is. */
  isOwn(owner: string | null | undefined): boolean {
    if (!this.owner || owner === null || owner === undefined || !hasOwn(this.ctx)) return false;
    return owner === storedOwner(this.ctx, this.owner, this.ownerIs);
  }

  /** Refuses new rows outside of the scope: their departments must be in it, or the caller must own them. */
  async refuseOutside(manager: EntityManager, rows: readonly ObjectLiteral[]): Promise<void> {
    const depts = rows.map((row) => this.deptOf(row) ?? null);
    const live = await scopedDepts(
      manager,
      this.ctx,
      depts.filter((deptId) => deptId !== null),
    );
    const isOutside = (row: ObjectLiteral, at: number): boolean => {
      const deptId = depts[at] ?? null;
      if (deptId !== null && live.get(deptId)) return false;
      return !this.isOwn(this.ownerOf(row)) || (deptId !== null && !live.has(deptId));
    };
    const outside = rows.flatMap((row, at) => (isOutside(row, at) ? [depts[at] ?? null] : []));
    if (outside.length > 0) throw outsideScope(outside);
  }

  get #dataSource(): DataSource {
    return dataSourceOf(this.dept.entityMetadata);
  }

  #nameOf({ databaseName, entityMetadata }: ColumnMetadata, alias = entityMetadata.tablePath): string {
    return nameIn(this.#dataSource, alias, databaseName);
  }
}

/** The refusal of departments outside of a caller's data scope. */
export function outsideScope(deptIds: readonly (number | null)[]): Refusal {
  const ids = [...new Set(deptIds)].filter((deptId) => Number.isSafeInteger(deptId)) as number[];
  return PartErrors.OUTSIDE_SCOPE({ ids: ids.sort((a, b) => a - b) });
}

/** The columns of a builder's statement, as `alias.property`, that say whose rows it finds. */
export interface ScopeColumns extends DataScopedBy {
  /** The column with the code of the tenant. Default: `tenantId` beside the department. */
  readonly tenant?: string;
}

interface ColumnIn extends NamedColumn {
  readonly alias: Alias;
}

/** The name of a column as SQL has it, with the alias of its table, or in a statement that writes and knows no alias, with the table. */
function nameIn({ driver }: DataSource, table: string, column: string): string {
  return [...table.split('.'), column].map((name) => driver.escape(name)).join('.');
}

/** A column of a builder's statement. */
function columnIn(builder: QueryBuilder<ObjectLiteral>, path: string): ColumnIn {
  const { aliases, mainAlias, queryType } = builder.expressionMap;
  const [first, ...rest] = path.split('.');
  const isWriting = queryType !== 'select';
  const named = rest.length > 0 ? aliases.find(({ name }) => name === first) : undefined;
  const alias = named ?? (isWriting ? mainAlias : undefined);
  if (!alias) throw new Error(`The builder has no alias for ${path}.`);
  const property = named ? rest.join('.') : path;
  const { metadata } = alias.hasMetadata ? alias : { metadata: undefined };
  const column =
    metadata?.findColumnWithPropertyPath(property) ?? metadata?.findColumnWithDatabaseName(property);
  if (metadata ? !column : !/^\w+$/.test(property)) throw new Error(`There is no column for ${path}.`);
  const table = isWriting ? (metadata?.tablePath ?? alias.tablePath) : alias.name;
  return {
    name: nameIn(dataSourceOf(builder), table ?? '', column?.databaseName ?? property),
    column,
    alias,
  };
}

/**
 * Limits what a builder of a host reads, changes or deletes to the caller's tenant and data scope. The condition stands beside WHERE, where
 * `where` and `orWhere` do not reach it. On a table that is joined it stands in ON, too: TypeORM reads a page with joins by two statements, and
 * of the second it knows only the ids.
 */
export function applyScope<Q extends QueryBuilder<ObjectLiteral>>(
  ctx: RequestContext,
  builder: Q,
  columns: ScopeColumns,
): Q {
  RequestContext.require(ctx);
  const { expressionMap } = builder;
  if (!APPLIED_TO.has(expressionMap.queryType))
    throw new Error('A data scope is applied to builders that select, update or delete.');
  const dept = columnIn(builder, columns.dept);
  const beside = columns.dept.replace(/[^.]+$/, 'tenantId');
  const tenant = columnIn(builder, columns.tenant ?? beside);
  const owner = columns.owner === undefined ? null : columnIn(builder, columns.owner);
  const beyond = new Set([dept, tenant, owner].map((each) => (each ?? dept).alias.name));
  beyond.delete(expressionMap.mainAlias?.name ?? '');
  const joins = expressionMap.joinAttributes.filter(({ alias }) => beyond.has(alias.name));
  if (beyond.size > 1 || joins.length < beyond.size)
    throw new Error('The columns of a data scope are of the main table, or of one that is joined to it.');
  const tenantId = tenant.column ? stored(tenant.column, ctx.tenantId) : ctx.tenantId;
  const scope = scopeCondition(
    dataSourceOf(builder),
    ctx,
    dept.name,
    owner && { is: owner, ownerIs: columns.ownerIs },
  );
  const all = joined(
    [condition(`${tenant.name} = :tenant`, { tenant: tenantId }), ...(scope ? [scope] : [])],
    'AND',
  );
  for (const join of joins) join.condition = join.condition ? `${all.sql} AND (${join.condition})` : all.sql;
  const { extraAppendedAndWhereCondition: other } = expressionMap;
  expressionMap.extraAppendedAndWhereCondition = other ? `${other} AND ${all.sql}` : all.sql;
  builder.setParameters(all.parameters);
  return builder;
}

const APPLIED_TO: ReadonlySet<string> = new Set(['select', 'update', 'delete', 'soft-delete', 'restore']);
