import type { ObjectLiteral, QueryBuilder } from 'typeorm';
import type { Alias } from 'typeorm/query-builder/Alias.js';
import { dataSourceOf } from '../database/tenantry.data-source';
import { RequestContext } from '../tenancy/request-context';
import {
  condition,
  isOwner,
  joined,
  nameIn,
  scopeCondition,
  stored,
  type Condition,
  type NamedColumn,
  type OwnerIs,
} from './data-scope.conditions';
import type { DataScopedBy } from './row-scope.conditions';
import { tenantColumn } from './tenant-bound.query-builder';

const APPLIED_TO: ReadonlySet<string> = new Set(['select', 'update', 'delete', 'soft-delete', 'restore']);

/** The columns of a builder's statement, as `alias.property`, that say whose rows it finds. */
export interface ScopeColumns extends DataScopedBy {
  /** The column with the code of the tenant. Default: `tenantId` of the main table or, if it has none, beside the department. */
  readonly tenant?: string;
}

interface ColumnIn extends NamedColumn {
  readonly alias: Alias;
  readonly property: string;
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
  if (metadata ? !column : !/^\w+$/.test(property))
    throw new Error(`There is no column for ${path}; \`dept\`, \`owner\` and \`tenant\` name them.`);
  const table = isWriting ? (metadata?.tablePath ?? alias.tablePath) : alias.name;
  return {
    name: nameIn(dataSourceOf(builder), table ?? '', column?.databaseName ?? property),
    column,
    alias,
    property,
  };
}

/** The value that an update gives to a column; undefined where it gives none. */
function afterUpdate(
  { expressionMap }: QueryBuilder<ObjectLiteral>,
  { column, property }: ColumnIn,
): unknown {
  const { queryType, valuesSet = {} } = expressionMap;
  if (queryType !== 'update') return undefined;
  const values = valuesSet as ObjectLiteral;
  return column ? column.getEntityValue(values) : (values[property] as unknown);
}

/** That rows are in the scope as they are and, where an update changes their departments or owners, as they become. */
function scopeConditions(
  ctx: RequestContext,
  builder: QueryBuilder<ObjectLiteral>,
  { dept, owner, ownerIs }: { dept: ColumnIn; owner: ColumnIn | null; ownerIs: OwnerIs | undefined },
): Condition[] {
  const dataSource = dataSourceOf(builder);
  const now = scopeCondition(dataSource, ctx, dept.name, owner && { is: owner, ownerIs });
  if (!now) return [];
  const newDept = afterUpdate(builder, dept);
  const newOwner = owner ? afterUpdate(builder, owner) : undefined;
  if (newDept === undefined && newOwner === undefined) return [now];
  if (typeof newDept === 'function' || typeof newOwner === 'function')
    throw new Error('A data scope does not know the departments and owners that SQL of an update makes.');
  const storedOwner = owner?.column && newOwner !== undefined ? stored(owner.column, newOwner) : null;
  if (owner?.column && isOwner(ctx, owner.column, storedOwner, ownerIs)) return [now];
  const id =
    newDept === undefined
      ? dept.name
      : String(Number.isSafeInteger(Number(newDept)) ? Number(newDept) : 'NULL');
  const keepsOwner = newOwner === undefined ? owner : null;
  const then = scopeCondition(dataSource, ctx, id, keepsOwner && { is: keepsOwner, ownerIs });
  return then ? [now, then] : [now];
}

/**
 * Limits what a builder of a host reads, changes or deletes to the caller's tenant and data scope. The condition stands beside WHERE, where
 * `where` and `orWhere` do not reach it. On tables that are joined it stands in ON: TypeORM reads a page with joins by two statements, and
 * of the second it knows only the ids. Each entity with a `tenantId` that is joined gives rows of the tenant alone.
 */
export function applyScope<Q extends QueryBuilder<ObjectLiteral>>(
  ctx: RequestContext,
  builder: Q,
  columns: ScopeColumns,
): Q {
  RequestContext.require(ctx);
  const { expressionMap } = builder;
  const { mainAlias, joinAttributes, queryType } = expressionMap;
  if (!APPLIED_TO.has(queryType))
    throw new Error('A data scope is applied to builders that select, update or delete.');
  // Before it TypeORM keeps the class of the entity there.
  if (queryType === 'update' && typeof expressionMap.valuesSet !== 'object')
    throw new Error('A data scope is applied to an update after its set.');
  const dept = columnIn(builder, columns.dept);
  const owner = columns.owner === undefined ? null : columnIn(builder, columns.owner);
  const isOfTenant = mainAlias?.hasMetadata && tenantColumn(mainAlias.metadata) !== undefined;
  const beside = isOfTenant ? `${mainAlias.name}.tenantId` : columns.dept.replace(/[^.]+$/, 'tenantId');
  const tenant = columnIn(builder, columns.tenant ?? beside);
  if (afterUpdate(builder, tenant) !== undefined)
    throw new Error('An update gives no rows to another tenant.');
  const beyond = new Set([dept, tenant, owner ?? dept].map(({ alias }) => alias.name));
  beyond.delete(mainAlias?.name ?? '');
  if (beyond.size > 1 || joinAttributes.filter(({ alias }) => beyond.has(alias.name)).length < beyond.size)
    throw new Error('The columns of a data scope are of the main table, or of one that is joined to it.');
  const ofTenant = ({ name, column }: ColumnIn): Condition =>
    condition(`${name} = :tenant`, { tenant: column ? stored(column, ctx.tenantId) : ctx.tenantId });
  const all = joined(
    [ofTenant(tenant), ...scopeConditions(ctx, builder, { dept, owner, ownerIs: columns.ownerIs })],
    'AND',
  );
  const conditions = [all];
  for (const join of joinAttributes) {
    const isBound = join.metadata && tenantColumn(join.metadata) !== undefined;
    const own = [
      ...(isBound ? [ofTenant(columnIn(builder, `${join.alias.name}.tenantId`))] : []),
      ...(beyond.has(join.alias.name) ? [all] : []),
    ];
    if (own.length === 0) continue;
    const on = joined(own, 'AND');
    join.condition = join.condition ? `${on.sql} AND (${join.condition})` : on.sql;
    conditions.push(on);
  }
  const { extraAppendedAndWhereCondition: other } = expressionMap;
  expressionMap.extraAppendedAndWhereCondition = other ? `${other} AND ${all.sql}` : all.sql;
  for (const { parameters } of conditions) builder.setParameters(parameters);
  // What was kept before a move would still be shown.
  if (queryType === 'select') expressionMap.cache = false;
  return builder;
}
