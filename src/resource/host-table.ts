import type {
  EntityManager,
  EntityMetadata,
  EntityTarget,
  FindOptionsWhere,
  SelectQueryBuilder,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { columnOf } from '../database/columns';
import { firstIdOf, type Rows } from '../database/dialect';
import { dialectOf } from '../database/dialects';
import type { Order } from '../database/scoped-table';
import { RequestContext } from '../tenancy/request-context';
import type { TenantOwned } from '../tenancy/tenant-bound';
import { dataSourceOf } from '../database/tenantry.data-source';

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
  readonly #entity: EntityTarget<E>;
  readonly #own: FindOptionsWhere<E>;

  constructor(manager: EntityManager, entity: EntityTarget<E>, ctx: RequestContext) {
    RequestContext.require(ctx);
    this.#manager = manager;
    this.#entity = entity;
    this.#own = { tenantId: ctx.tenantId } as FindOptionsWhere<E>;
  }

  findOne(where: Where<E>): Promise<E | null> {
    return this.#select(where).getOne();
  }

  find(where: Where<E>, { order, limit }: RowsWanted<E> = {}): Promise<E[]> {
    const select = this.#select(where).limit(limit);
    const metadata = dataSourceOf(this.#manager).getMetadata(this.#entity);
    for (const [property, direction] of Object.entries(order ?? {}) as [string, 'ASC' | 'DESC'][]) {
      select.addOrderBy(`t.${columnOf(metadata, property).propertyName}`, direction);
    }
    return select.getMany();
  }

  count(where: Where<E>): Promise<number> {
    return this.#select(where).getCount();
  }

  exists(where: Where<E>): Promise<boolean> {
    return this.#select(where).getExists();
  }

  /** Adds rows in one statement and gives the id that the database made for the first of them, if it makes ids. */
  async insert(...rows: Values<E>[]): Promise<number> {
    const dataSource = dataSourceOf(this.#manager);
    const dialect = dialectOf(dataSource);
    const insert = this.#manager
      .createQueryBuilder()
      .insert()
      .into(this.#entity)
      .values(rows.map((row) => ({ ...row, ...this.#own }) as Values<E>))
      .updateEntity(false);
    const id = countedColumn(dataSource.getMetadata(this.#entity));
    if (id && dialect.returning('') !== '')
      insert.returning(`${dataSource.driver.escape(id.databaseName)} AS id`);
    const { raw } = (await insert.execute()) as { raw: unknown };
    // MySQL gives an object with the id of the first row, SQLite the id of the last, PostgreSQL all that were made.
    const insertId = typeof raw === 'number' ? raw : Number((raw as { insertId?: unknown }).insertId);
    return firstIdOf(
      dialect,
      { rows: Array.isArray(raw) ? (raw as Rows) : [], affected: 0, insertId },
      rows.length,
    );
  }

  /** Changes the rows that match, in one statement; gives their number. */
  async update(where: Where<E>, values: Values<E>): Promise<number> {
    const change = this.#manager.createQueryBuilder().update(this.#entity);
    const changed = change.set({ ...values, ...this.#own });
    return (await changed.where(where).andWhere(this.#own).execute()).affected ?? 0;
  }

  async erase(where: Where<E>): Promise<number> {
    const erase = this.#manager.createQueryBuilder().delete().from(this.#entity);
    return (await erase.where(where).andWhere(this.#own).execute()).affected ?? 0;
  }

  #select(where: Where<E>): SelectQueryBuilder<E> {
    return this.#manager.createQueryBuilder(this.#entity, 't').where(where).andWhere(this.#own);
  }
}

/** The ways of TypeORM to say that a database counts; PostgreSQL has both. */
const COUNTED: ReadonlySet<unknown> = new Set(['increment', 'identity']);

/** The column whose numbers the database counts; it need not be the key. */
export function countedColumn({ generatedColumns }: EntityMetadata): ColumnMetadata | undefined {
  return generatedColumns.find(({ generationStrategy }) => COUNTED.has(generationStrategy));
}
