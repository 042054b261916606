import type { ObjectLiteral, QueryBuilder } from 'typeorm';
import type { Alias } from 'typeorm/query-builder/Alias.js';
import { dataSourceOf } from '../database/tenantry.data-source';
import { RequestContext } from '../tenancy/request-context';
import { condition, joined, nameIn, scopeCondition, stored, type NamedColumn } from './data-scope.conditions';
import type { DataScopedBy } from './row-scope.conditions';

const APPLIED_TO: ReadonlySet<string> = new Set(['select', 'update', 'delete', 'soft-delete', 'restore']);

/** The columns of a builder's statement, as `alias.property`, that say whose rows it finds. */
export interface ScopeColumns extends DataScopedBy {
  /** The column with the code of the tenant. Default: `tenantId` beside the department. */
  readonly tenant?: string;
}

interface ColumnIn extends NamedColumn {
  readonly alias: Alias;
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
