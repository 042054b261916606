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
import type { Order } from '../database/scoped-table';
import { RequestContext } from '../tenancy/request-context';
import type { TenantOwned } from '../tenancy/tenant-bound';
import { dataSourceOf } from '../database/tenantry.data-source';
import { TenantBoundQueryBuilder, tenantColumn } from './tenant-bound.query-builder';

/** In which order, and how many at most. */
export interface RowsWanted<E> {
  readonly order?: Order<E>;
  readonly limit?: number;
}

type Where<E> = FindOptionsWhere<E> | FindOptionsWhere<E>[];
type Values<E> = QueryDeepPartialEntity<E>;

/**
 * A table of a host as one tenant sees it: every condition gets the tenant added last, every row is stamped with it. By
 * TypeORM's query builder, because entities of hosts may have more to them: relations, hooks, other operators.
 */
export class HostTable<E extends TenantOwned> {
  readonly #manager: EntityManager;
  readonly #entity: Type<E>;
  readonly #tenantId: string;
  readonly #own: FindOptionsWhere<E>;

  constructor(manager: EntityManager, entity: Type<E>, ctx: RequestContext) {
    RequestContext.require(ctx);
    this.#manager = manager;
    this.#entity = entity;
    this.#tenantId = ctx.tenantId;
    this.#own = { tenantId: ctx.tenantId } as FindOptionsWhere<E>;
  }

  queryBuilder(alias: string): SelectQueryBuilder<E> {
    return new TenantBoundQueryBuilder(this.#manager.createQueryBuilder(this.#entity, alias), this.#tenantId);
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
    await this.#manager.insert(this.#entity, entities as Values<E>[]);
    return entities;
  }

  /** Changes the rows that match, in one statement; gives their number. */
  async update(where: Where<E>, values: Values<E>): Promise<number> {
    // Of the entity's class, so that its hooks run; without its constructor, which may set what is not to be changed.
    const changes = Object.assign(Object.create(this.#entity.prototype as object) as E, values);
    this.#stamp(changes);
    const update = this.#manager.createQueryBuilder().update(this.#entity).set(changes);
    return (await update.where(where).andWhere(this.#own).execute()).affected ?? 0;
  }

  /** Marks the rows that match as deleted where the entity has a column for it, or else erases them; gives their number. */
  async delete(where: Where<E>): Promise<number> {
    const { deleteDateColumn } = this.#metadata;
    const builder = this.#manager.createQueryBuilder();
    const remove = deleteDateColumn ? builder.softDelete() : builder.delete();
    remove.from(this.#entity).where(where).andWhere(this.#own);
    if (deleteDateColumn) remove.andWhere({ [deleteDateColumn.propertyName]: IsNull() });
    return (await remove.execute()).affected ?? 0;
  }

  get #metadata(): EntityMetadata {
    return dataSourceOf(this.#manager).getMetadata(this.#entity);
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
    Object.defineProperty(row, 'tenantId', { get: () => this.#tenantId, set, enumerable: true });
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
