import type { EntityManager, EntityTarget, FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { RequestContext } from './request-context';
import type { TenantOwned } from './tenant-owned';

type Where<E> = FindOptionsWhere<E>;
type Values<E> = QueryDeepPartialEntity<Omit<E, 'tenantId' | 'tenant'>>;
type NumericKey<E> = { [K in keyof E]: E[K] extends number ? K : never }[keyof E] & string;

/**
 * A table as one tenant sees it. Every condition gets the tenant added last, every new row is stamped with it;
 * there is no `save` (it looks up by key alone and could take over another tenant's row) and no query builder
 * to hand out.
 */
export class TenantBound<E extends TenantOwned> {
  readonly #manager: EntityManager;
  readonly #entity: EntityTarget<E>;
  readonly #tenantId: string;

  constructor(manager: EntityManager, entity: EntityTarget<E>, ctx: RequestContext) {
    if (!ctx.tenantId) throw new Error('A tenant-bound table needs a tenant.');
    this.#manager = manager;
    this.#entity = entity;
    this.#tenantId = ctx.tenantId;
  }

  findOne(where: Where<E>): Promise<E | null> {
    return this.#manager.findOneBy(this.#entity, this.#mine(where));
  }

  /** The values of one column in the rows that match. */
  async pluck<K extends keyof E & string>(column: K, where: Where<E>): Promise<E[K][]> {
    const rows = await this.#manager.find(this.#entity, {
      select: { [column]: true } as never,
      where: this.#mine(where),
      loadEagerRelations: false,
    });
    return rows.map((row) => row[column]);
  }

  maximum(column: NumericKey<E>, where: Where<E>): Promise<number | null> {
    return this.#manager.maximum(this.#entity, column as never, this.#mine(where));
  }

  /** Adds a row and gives the keys that the database made. */
  async insert(values: Values<E>): Promise<Partial<E>> {
    const row = { ...values, tenantId: this.#tenantId } as unknown as QueryDeepPartialEntity<E>;
    const { identifiers } = await this.#manager.insert(this.#entity, row);
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
      .set(values as unknown as QueryDeepPartialEntity<E>)
      .where(this.#mine(where))
      .setParameters(parameters)
      .execute();
    return affected ?? 0;
  }

  #mine(where: Where<E>): Where<E> {
    return { ...where, tenantId: this.#tenantId };
  }
}
