import type { Type } from '@nestjs/common';
import {
  IsNull,
  type DeepPartial,
  type EntityManager,
  type EntityMetadata,
  type FindManyOptions,
  type FindOptionsWhere,
  type SelectQueryBuilder,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { columnOf } from '../database/columns';
import { OpenUnit, type UnitPart } from '../database/open-unit';
import type { Order } from '../database/scoped-table';
import { RequestContext } from '../tenancy/request-context';
import type { TenantOwned } from '../tenancy/tenant-bound';
import { dataSourceOf } from '../database/tenantry.data-source';
import { outsideScope, scopedDepts } from './data-scope.conditions';
import { RowScope } from './row-scope.conditions';
import { TenantBoundQueryBuilder, tenantColumn } from './tenant-bound.query-builder';

/** In which order, and how many at most. */
export interface RowsWanted<E> {
  readonly order?: Order<E>;
  readonly limit?: number;
}

type Where<E> = FindOptionsWhere<E> | FindOptionsWhere<E>[];
type Values<E> = QueryDeepPartialEntity<E>;

/** Keeps a unit from its COMMIT that has written a row out of the caller's data scope, also where the host catches the refusal. */
class ScopeBreach implements UnitPart {
  refusal: Error | null = null;

  beforeCommit(): Promise<void> {
    return this.refusal === null ? Promise.resolve() : Promise.reject(this.refusal);
  }
}

/**
 * A table of a host as one caller sees it: every condition gets the tenant and the data scope added last, every row is stamped with the
 * tenant. By TypeORM's query builder, because entities of hosts may have more to them: relations, hooks, other operators.
 */
export class HostTable<E extends TenantOwned> {
  readonly #manager: EntityManager;
  readonly #entity: Type<E>;
  readonly #ctx: RequestContext;
  readonly #unit: OpenUnit | null;
  readonly #own: FindOptionsWhere<E>;
  readonly #scope: RowScope | null;

  /** In a unit, or with a manager to read with. */
  constructor(within: OpenUnit | EntityManager, entity: Type<E>, ctx: RequestContext) {
    RequestContext.require(ctx);
    this.#unit = within instanceof OpenUnit ? within : null;
    this.#manager = within instanceof OpenUnit ? within.manager : within;
    this.#entity = entity;
    this.#ctx = ctx;
    this.#own = { tenantId: ctx.tenantId } as FindOptionsWhere<E>;
    this.#scope = RowScope.of(ctx, this.#metadata);
  }

  queryBuilder(alias: string): SelectQueryBuilder<E> {
    return new TenantBoundQueryBuilder(this.#manager.createQueryBuilder(this.#entity, alias), this.#ctx);
  }

  findOne(where: Where<E>): Promise<E | null> {
    return this.#select(where, { take: 1 }).getOne();
  }

  find(where: Where<E>, { order, limit }: RowsWanted<E> = {}): Promise<E[]> {
    const select = this.#select(where, limit === undefined ? {} : { take: limit });
    for (const [property, direction] of Object.entries(order ?? {}) as [string, 'ASC' | 'DESC'][]) {
      select.addOrderBy(`t.${columnOf(this.#metadata, property).propertyName}`, direction);
    }
    return select.getMany();
  }

  count(where: Where<E>): Promise<number> {
    return this.#select(where, { loadEagerRelations: false }).getCount();
  }

  exists(where: Where<E>): Promise<boolean> {
    return this.#select(where, { loadEagerRelations: false }).getExists();
  }

  /** Adds rows in one statement, and gives them with what the database has made for them. */
  async insert(...rows: Values<E>[]): Promise<E[]> {
    const entities = rows.map((row) => this.#manager.create(this.#entity, row as DeepPartial<E>));
    for (const each of entities) this.#stamp(each);
    const open = entities.filter((row) => this.#scope?.isOpen(row));
    const stated = entities.filter((row) => !open.includes(row));
    await this.#scope?.refuseOutside(this.#manager, stated);
    const insert = () => this.#manager.insert(this.#entity, entities as Values<E>[]);
    const refuseOutside = async () => this.#scope?.refuseOutside(this.#manager, entities);
    await this.#inScope(entities, insert, refuseOutside, open.length > 0);
    return entities;
  }

  /** Changes the rows that match, in one statement; gives their number. */
  async update(where: Where<E>, values: Values<E>): Promise<number> {
    // Of the entity's class, so that its hooks run; without its constructor, which may set what is not to be changed.
    const changes = Object.assign(Object.create(this.#entity.prototype as object) as E, values);
    this.#stamp(changes);
    await this.#refuseLeaving(where, changes);
    const update = this.#manager.createQueryBuilder().update(this.#entity).set(changes);
    update.where(where).andWhere(this.#own);
    const scope = this.#scope?.condition();
    if (scope) update.andWhere(scope.sql, scope.parameters);
    const refuseOutside = () => this.#refuseHooks(changes);
    return (await this.#inScope([changes], () => update.execute(), refuseOutside)).affected ?? 0;
  }

  /** Marks the rows that match as deleted where the entity has a column for it, or else erases them; gives their number. */
  async delete(where: Where<E>): Promise<number> {
    const { deleteDateColumn } = this.#metadata;
    const builder = this.#manager.createQueryBuilder();
    const remove = deleteDateColumn ? builder.softDelete() : builder.delete();
    remove.from(this.#entity).where(where).andWhere(this.#own);
    const scope = this.#scope?.condition();
    if (scope) remove.andWhere(scope.sql, scope.parameters);
    if (deleteDateColumn) remove.andWhere({ [deleteDateColumn.propertyName]: IsNull() });
    return (await remove.execute()).affected ?? 0;
  }

  get #metadata(): EntityMetadata {
    return dataSourceOf(this.#manager).getMetadata(this.#entity);
  }

  /** Refuses a change of rows by which one of them gets a department outside of the data scope, or is given away by its owner. */
  async #refuseLeaving(where: Where<E>, changes: E): Promise<void> {
    const deptId = this.#scope?.deptOf(changes);
    const owner = this.#scope?.ownerOf(changes);
    if (!this.#scope || (await this.#isHeld(deptId))) return;
    const leaving = [
      ...(deptId === undefined ? [] : [this.#scope.leaving('t', deptId)]),
      ...(this.#scope.keeps(owner) ? [] : [this.#scope.leaving('t', undefined)]),
    ];
    for (const { sql, parameters } of leaving) {
      const rows = this.#select(where, { loadEagerRelations: false, withDeleted: true });
      if (await rows.andWhere(sql, parameters).getExists()) throw outsideScope([deptId ?? null]);
    }
  }

  /** Hooks of an update do not see the rows, so what they say of departments and owners must be right for all rows. */
  async #refuseHooks(changes: E): Promise<void> {
    const deptId = this.#scope?.deptOf(changes);
    if (await this.#isHeld(deptId)) return;
    const isSafe = deptId === undefined && this.#scope?.keeps(this.#scope.ownerOf(changes));
    if (!isSafe) throw outsideScope([deptId ?? null]);
  }

  async #isHeld(deptId: number | null | undefined): Promise<boolean> {
    if (deptId === null || deptId === undefined) return false;
    return (await scopedDepts(this.#manager, this.#ctx, [deptId])).get(deptId) === true;
  }

  /** Writes rows, and checks them afterwards where their hooks have changed departments or owners, or were to say them. */
  async #inScope<T>(
    rows: readonly E[],
    write: () => Promise<T>,
    refuseOutside: () => Promise<void>,
    isOpen = false,
  ): Promise<T> {
    const scope = this.#scope;
    if (!scope) return write();
    const said = () => JSON.stringify(rows.map((row) => [scope.deptOf(row), scope.ownerOf(row)]));
    const before = said();
    const written = await write();
    if (said() === before && !isOpen) return written;
    await refuseOutside().catch((refusal: unknown) => {
      if (this.#unit) this.#unit.part(ScopeBreach).refusal = refusal as Error;
      throw refusal;
    });
    return written;
  }

  #select(where: Where<E>, options: FindManyOptions<E>): SelectQueryBuilder<E> {
    // TypeORM leaves an alternative out that is everything.
    const isAll = (Array.isArray(where) ? where : [where]).some((each) => Object.keys(each).length === 0);
    const found = isAll ? options : { where, ...options };
    return this.queryBuilder('t').setFindOptions({ relationLoadStrategy: 'join', ...found });
  }

  /** Says whose row it is, also after a hook of the entity has said something else. */
  #stamp(row: E): void {
    const set = (): void => undefined;
    Object.defineProperty(row, 'tenantId', { get: () => this.#ctx.tenantId, set, enumerable: true });
    const relation = tenantColumn(this.#metadata)?.relationMetadata?.propertyName;
    if (relation !== undefined) Object.defineProperty(row, relation, { get: () => undefined, set });
  }
}

/** The ways of TypeORM to say that a database counts; PostgreSQL has both. */
const COUNTED: ReadonlySet<unknown> = new Set(['increment', 'identity']);

/** The column whose numbers the database counts; it need not be the key. */
export function countedColumn({ generatedColumns }: EntityMetadata): ColumnMetadata | undefined {
  return generatedColumns.find(({ generationStrategy }) => COUNTED.has(generationStrategy));
}
