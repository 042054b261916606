import type {
  EntityManager,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { columnOf, comesAsItIs } from './columns';
import { forced, inStretches, keysOf, named, type Key, type KeyRange } from './key-range';
import { dialectOf, isSqlite } from './dialect';

/** As many ids as a database looks up by key one by one; longer lists it treats as a table. */
const CHUNK = 500;

export type Order<E> = Readonly<Partial<Record<keyof E & string, 'ASC' | 'DESC'>>>;

/** What `find` gives of the rows that match; all of it by default. */
export interface FindOptions<E> {
  readonly order?: Order<E>;
  readonly limit?: number;
  readonly columns?: readonly (keyof E & string)[];
  /** The index to read from, where MySQL would choose another. */
  readonly index?: string;
}

type Where<E> = FindOptionsWhere<E> | FindOptionsWhere<E>[];
type Values<E> = QueryDeepPartialEntity<E>;

export interface Scope<E> {
  readonly where: Where<E>;
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

  /** For the few conditions that the databases want in different forms. */
  get isOnSqlite(): boolean {
    return isSqlite(this.#manager.dataSource);
  }

  findOne(where: Where<E>): Promise<E | null> {
    return this.#select(where).getOne();
  }

  /** The rows that match: all, or as many as `limit` allows; whole, or only some columns of them. */
  find(where: Where<E>, { columns, ...taken }: Omit<FindOptions<E>, 'index'> = {}): Promise<E[]> {
    const select = this.#take(where, taken);
    if (columns) select.select(columns.map((column) => `t.${column}`));
    return select.getMany();
  }

  /** Some columns of the rows that match, as plain objects: many of them cost a fraction of what entities do. */
  pick<C extends keyof E & string>(
    where: Where<E>,
    columns: readonly C[],
    taken: Omit<FindOptions<E>, 'columns'> = {},
  ): Promise<Pick<E, C>[]> {
    return this.#readColumns(this.#take(where, taken), columns);
  }

  /** The values of a text column that more than one row has. */
  async repeatedTexts(column: keyof E & string, where: Where<E>): Promise<string[]> {
    const select = this.#select(where).select(`t.${column}`, 'value').groupBy(`t.${column}`);
    const rows = await select.having('COUNT(*) > 1').getRawMany<{ value: unknown }>();
    return rows.map(({ value }) => String(value));
  }

  /** Places in an order, read from its index alone. */
  async keys(range: KeyRange<E>): Promise<Key[]> {
    return keysOf(await this.pickNext(range, range.order), range.order);
  }

  /** Some columns of the rows at the next places of an order. */
  pickNext<C extends keyof E & string>(range: KeyRange<E>, columns: readonly C[]): Promise<Pick<E, C>[]> {
    return inStretches(range, (arrange) => this.#readColumns(arrange(this.#select({})), columns));
  }

  /** The places of all rows that match, in any order. */
  async keysOf(where: Where<E>, order: KeyRange<E>['order']): Promise<Key[]> {
    return keysOf(await this.#readColumns(this.#select(where), order), order);
  }

  count(where: Where<E>): Promise<number> {
    return this.#select(where).getCount();
  }

  exists(where: Where<E>): Promise<boolean> {
    return this.#select(where).getExists();
  }

  /** Whether more rows than that match; it reads no more than it must. */
  async hasMoreThan(count: number, where: Where<E>): Promise<boolean> {
    const select = this.#select(where).select('1', 'one').offset(count).limit(1);
    return (await select.getRawMany()).length > 0;
  }

  async distinct(column: keyof E & string, where: Where<E>): Promise<string[]> {
    const select = this.#select(where).select(`t.${column}`, 'value').distinct();
    return (await select.getRawMany<{ value: unknown }>()).map(({ value }) => String(value));
  }

  async distinctIds(column: keyof E & string, where: Where<E>): Promise<number[]> {
    return (await this.distinct(column, where)).map(Number);
  }

  /** The greatest value that an expression on a column has in the rows that match. */
  async maximum(
    column: keyof E & string,
    of: (column: string) => string,
    where: Where<E>,
  ): Promise<number | null> {
    const select = this.#select(where).select(`MAX(${of(`t.${column}`)})`, 'max');
    const row = await select.getRawOne<{ max: unknown }>();
    return row?.max == null ? null : Number(row.max);
  }

  /** Adds rows in one statement and gives the id that the database made for the first of them, if it makes ids. */
  async insert(...rows: Values<E>[]): Promise<number> {
    const { raw } = (await this.#manager
      .createQueryBuilder()
      .insert()
      .into(this.#entity)
      .values(rows.map((row) => ({ ...row, ...this.#scope.stamp })))
      .updateEntity(false)
      .execute()) as { raw: unknown };
    return dialectOf(this.#manager.dataSource).firstId(raw, rows.length);
  }

  /** Changes the rows that match, in one statement; gives their number. `:names` in expressions are `parameters`. */
  async update(
    where: Where<E>,
    values: Values<E>,
    parameters: Record<string, string | number | null> = {},
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

  async erase(where: Where<E>): Promise<number> {
    const { affected } = await this.#manager
      .createQueryBuilder()
      .delete()
      .from(this.#entity)
      .where(where)
      .andWhere(this.#scope.where)
      .execute();
    return affected ?? 0;
  }

  /** The rows as the database's client made them; only what the entity has in another form is touched. */
  async #readColumns<C extends keyof E & string>(
    select: SelectQueryBuilder<E>,
    columns: readonly C[],
  ): Promise<Pick<E, C>[]> {
    const [sql, parameters] = named(select, columns).getQueryAndParameters();
    const rows = await this.#manager.query<Pick<E, C>[]>(forced(sql), parameters);
    const { driver } = this.#manager.dataSource;
    for (const name of columns) {
      const column = this.#columnOf(name);
      if (comesAsItIs(column)) continue;
      for (const row of rows) row[name] = driver.prepareHydratedValue(row[name], column) as E[C];
    }
    return rows;
  }

  #take(where: Where<E>, { order, limit, index }: Omit<FindOptions<E>, 'columns'>): SelectQueryBuilder<E> {
    const select = this.#select(where, index).limit(limit);
    for (const [column, direction] of Object.entries(order ?? {}) as [string, 'ASC' | 'DESC'][]) {
      select.addOrderBy(`t.${this.#columnOf(column).propertyName}`, direction);
    }
    return select;
  }

  #select(where: Where<E>, index?: string): SelectQueryBuilder<E> {
    const select = this.#manager.createQueryBuilder(this.#entity, 't');
    if (index !== undefined) select.useIndex(index);
    return select.where(where).andWhere(this.#scope.where);
  }

  #columnOf(property: string): ColumnMetadata {
    return columnOf(this.#manager.dataSource.getMetadata(this.#entity), property);
  }
}

/** Asks for many ids in lists of a moderate length, one after the other, and gives all that was found, up to a limit. */
export async function inChunks<K, T>(
  keys: readonly K[],
  ask: (chunk: readonly K[], sofar: number) => Promise<T[]>,
  limit = Infinity,
): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < keys.length && found.length < limit; start += CHUNK) {
    found.push(...(await ask(keys.slice(start, start + CHUNK), found.length)));
  }
  return found;
}
