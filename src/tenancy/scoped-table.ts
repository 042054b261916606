import type {
  EntityManager,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';

type Where<E> = FindOptionsWhere<E>;
type Values<E> = QueryDeepPartialEntity<E>;

/** What every statement on a table is bound to. */
export interface Scope<E> {
  /** Added last to every condition. */
  readonly where: Where<E> | Where<E>[];
  /** Written last into every new row. */
  readonly stamp?: Values<E>;
}

/**
 * A table of which only a part can be reached. There is no `save` (it looks up by key alone and could take over
 * a row outside the scope) and no query builder to hand out.
 */
export class ScopedTable<E extends ObjectLiteral> {
  readonly #manager: EntityManager;
  readonly #entity: EntityTarget<E>;
  readonly #scope: Scope<E>;

  constructor(manager: EntityManager, entity: EntityTarget<E>, scope: Scope<E>) {
    this.#manager = manager;
    this.#entity = entity;
    this.#scope = scope;
  }

  findOne(where: Where<E>): Promise<E | null> {
    return this.#select(where).getOne();
  }

  /** The rows that match, in the order of a column. */
  find(where: Where<E>, page?: { order: keyof E & string; limit: number }): Promise<E[]> {
    const select = this.#select(where);
    if (page) select.orderBy(`t.${page.order}`).limit(page.limit);
    return select.getMany();
  }

  count(where: Where<E>): Promise<number> {
    return this.#select(where).getCount();
  }

  exists(where: Where<E>): Promise<boolean> {
    return this.#select(where).getExists();
  }

  /** The different values of a text column in the rows that match. */
  async distinct(column: keyof E & string, where: Where<E>): Promise<string[]> {
    const select = this.#select(where).select(`t.${column}`, 'value').distinct();
    return (await select.getRawMany<{ value: unknown }>()).map(({ value }) => String(value));
  }

  /** The different values of a column of ids in the rows that match. */
  async distinctIds(column: keyof E & string, where: Where<E>): Promise<number[]> {
    return (await this.distinct(column, where)).map(Number);
  }

  async maximum(column: keyof E & string, where: Where<E>): Promise<number | null> {
    const row = await this.#select(where).select(`MAX(t.${column})`, 'max').getRawOne<{ max: unknown }>();
    return row?.max == null ? null : Number(row.max);
  }

  /** Adds a row and gives the keys that the database made. */
  async insert(values: Values<E>): Promise<Partial<E>> {
    const { identifiers } = await this.#manager.insert(this.#entity, { ...values, ...this.#scope.stamp });
    return identifiers[0] as Partial<E>;
  }

  /** Changes the rows that match, in one statement; gives their number. `:names` in expressions are `parameters`. */
  async update(
    where: Where<E>,
    values: Values<E>,
    parameters: Record<string, string | number> = {},
  ): Promise<number> {
    const { affected } = await this.#manager
      .createQueryBuilder()
      .update(this.#entity)
      .set({ ...values, ...this.#scope.stamp })
      .where(where)
      .andWhere(this.#scope.where)
      .setParameters(parameters)
      .execute();
    return affected ?? 0;
  }

  #select(where: Where<E>): SelectQueryBuilder<E> {
    return this.#manager.createQueryBuilder(this.#entity, 't').where(where).andWhere(this.#scope.where);
  }
}
