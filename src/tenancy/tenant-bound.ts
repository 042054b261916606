import type { EntityManager, EntityTarget, FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { findRow, insertRow } from '../database/prepared';
import { RequestContext } from './request-context';
import { ScopedTable } from '../database/scoped-table';

/** A row that belongs to one tenant. */
export interface TenantOwned {
  tenantId: string;
}

type Row<E> = Partial<Readonly<E>>;

/** A table as one tenant sees it: every condition gets the tenant added last, every row is stamped with it. */
export class TenantBound<E extends TenantOwned> extends ScopedTable<E> {
  readonly #manager: EntityManager;
  readonly #entity: EntityTarget<E>;
  readonly #tenantId: string;

  constructor(manager: EntityManager, entity: EntityTarget<E>, ctx: RequestContext) {
    RequestContext.require(ctx);
    const { tenantId } = ctx;
    super(manager, entity, {
      where: { tenantId } as FindOptionsWhere<E>,
      stamp: { tenantId } as unknown as QueryDeepPartialEntity<E>,
    });
    this.#manager = manager;
    this.#entity = entity;
    this.#tenantId = tenantId;
  }

  /** As `findOne`, by equal values alone; for the library's own tables, at a third of the cost. */
  findRow(where: Row<E>): Promise<E | null> {
    return findRow(this.#manager, this.#entity, this.#owned(where));
  }

  /** As `insert` of one row; for the library's own tables, at a third of the cost. */
  insertRow(row: Row<E>): Promise<number> {
    return insertRow(this.#manager, this.#entity, this.#owned(row));
  }

  #owned(values: Row<E>): QueryDeepPartialEntity<E> {
    // Not spread: Node 20 takes ten times as long for it.
    return Object.assign({}, values, { tenantId: this.#tenantId }) as unknown as QueryDeepPartialEntity<E>;
  }
}
