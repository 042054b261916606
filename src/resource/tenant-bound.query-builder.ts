import { SelectQueryBuilder, type EntityMetadata, type ObjectLiteral, type QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { dataSourceOf } from '../database/tenantry.data-source';
import { RequestContext } from '../tenancy/request-context';
import type { Condition } from './data-scope.conditions';
import { RowScope } from './row-scope.conditions';

/** What would write, or read rows of other tables past the builder. The last one is of TypeORM 0.3. */
const REFUSED = [
  ...['insert', 'update', 'delete', 'softDelete', 'restore', 'relation'],
  ...['loadRelationIdAndMap', 'loadAllRelationIds', 'loadRelationCountAndMap'],
];

/** The conditions that all builders of a statement put on entities, by their aliases, on behalf of one caller. */
class Bounds {
  readonly #conditions = new Map<string, Condition | null>();

  constructor(readonly ctx: RequestContext) {
    RequestContext.require(ctx);
  }

  /** Always the same, so that a copy of a builder knows what it has already. */
  on(alias: string, metadata: EntityMetadata): Condition | null {
    const key = `${metadata.name} ${alias}`;
    const known = this.#conditions.get(key);
    if (known !== undefined) return known;
    const found = this.#find(alias, metadata);
    this.#conditions.set(key, found);
    return found;
  }

  /** The tenant is written out and not a parameter, which others could set. */
  #find(alias: string, metadata: EntityMetadata): Condition | null {
    const column = tenantColumn(metadata);
    if (!column) return null;
    const stored: unknown = column.getEntityValue({ tenantId: this.ctx.tenantId }, true);
    if (stored !== Number(stored) && !(typeof stored === 'string' && /^[\w-]+$/.test(stored))) {
      throw new Error(`${metadata.name} stores tenantId as something other than a code.`);
    }
    const sql = `${alias}.${column.propertyPath} = '${stored}'`;
    const scope = RowScope.of(this.ctx, metadata)?.condition(alias);
    return scope ? { ...scope, sql: `${sql} AND ${scope.sql}` } : { sql, parameters: {} };
  }
}

/**
 * TypeORM's select builder, for one caller: each entity with a `tenantId` that it selects from or joins, subqueries included, gives
 * rows of the caller's tenant alone, and of one with `@DataScoped` those in the caller's data scope. The condition stands beside WHERE
 * and in ON, where `where` and its like do not reach it, and it is part of every copy.
 */
export class TenantBoundQueryBuilder<E extends ObjectLiteral> extends SelectQueryBuilder<E> {
  readonly #bounds: Bounds;
  /** How many of the joins have the bounds in their condition. */
  #boundJoins = 0;

  constructor(from: SelectQueryBuilder<E>, caller: RequestContext | Bounds) {
    super(from);
    this.#bounds = caller instanceof Bounds ? caller : new Bounds(caller);
    if (from instanceof TenantBoundQueryBuilder) this.#boundJoins = from.#boundJoins;
    // Also where the DataSource caches everything: a row that is gone must not be confirmed.
    this.expressionMap.cache = false;
    this.#bind();
  }

  override clone(): this {
    return new TenantBoundQueryBuilder(this, this.#bounds) as this;
  }

  override createQueryBuilder(queryRunner: QueryRunner | undefined = this.queryRunner): this {
    const empty = new SelectQueryBuilder<E>(dataSourceOf(this), queryRunner);
    return new TenantBoundQueryBuilder(empty, this.#bounds) as this;
  }

  override getQuery(): string {
    this.#bind();
    return super.getQuery();
  }

  /** TypeORM asks by a builder of its own, which may answer from a cache. */
  override async getExists(): Promise<boolean> {
    const outer = this.createQueryBuilder().fromDummy().select('1', 'one').whereExists(this);
    return (await outer.limit(1).getRawMany()).length > 0;
  }

  /** An entry of TypeORM's cache may be found by a name alone, which tenants would share. */
  override cache(wanted: unknown): this {
    if (wanted) throw new Error('Rows of a tenant are not answered from a cache.');
    return this;
  }

  protected override join(
    direction: 'INNER' | 'LEFT',
    target: string,
    alias: string,
    ...more: [
      condition?: string,
      parameters?: ObjectLiteral,
      mapTo?: string,
      isMappingMany?: boolean,
      mapAs?: string,
    ]
  ): void {
    super.join(direction, target, alias, ...more);
    this.#bind();
  }

  #bind(): void {
    const { aliases, joinAttributes } = this.expressionMap;
    for (const join of joinAttributes.slice(this.#boundJoins)) {
      const own = this.#boundsOn(join.alias.name, join.metadata);
      if (own !== null) join.condition = join.condition ? `${own} AND (${join.condition})` : own;
    }
    this.#boundJoins = joinAttributes.length;
    const sources = aliases.filter(({ type, hasMetadata }) => type === 'from' && hasMetadata);
    const conditions = sources.flatMap(({ name, metadata }) => this.#boundsOn(name, metadata) ?? []);
    const own = conditions.join(' AND ');
    // TypeORM itself puts the ids of a page there, in a copy.
    const { extraAppendedAndWhereCondition: other } = this.expressionMap;
    if (!other.startsWith(own)) {
      this.expressionMap.extraAppendedAndWhereCondition = other ? `${own} AND (${other})` : own;
    }
  }

  #boundsOn(alias: string, metadata: EntityMetadata | undefined): string | null {
    const own = metadata && this.#bounds.on(alias, metadata);
    if (!own) return null;
    this.setParameters(own.parameters);
    return own.sql;
  }
}

for (const name of REFUSED) {
  Object.defineProperty(TenantBoundQueryBuilder.prototype, name, {
    value: () => {
      throw new Error(`${name} is not bound to a tenant; this builder only reads.`);
    },
  });
}

/** The column that says whose row it is. */
export function tenantColumn({ columns }: EntityMetadata): ColumnMetadata | undefined {
  return columns.find(({ propertyPath }) => propertyPath === 'tenantId');
}
