import type { Type } from '@nestjs/common';
import type { EntityManager, EntityMetadata } from 'typeorm';
import type { IdempotentRequest } from '../database/idempotent-request';
import type { TenantryDataSource } from '../database/tenantry.data-source';
import type { UnitOfWork } from '../database/unit-of-work';
import { raiseTreeVersion } from './tree-version';
import { refuseUnowned } from './host.conditions';
import { RequestContext } from './request-context';
import { TenantBound } from './tenant-bound';
import type { TenantOwned } from './tenant-owned';
import { TenantRows } from './tenant-rows.repository';

/** How the names of Tenantry's own tables begin. */
const OWN_TABLES = 'tenantry_';

/** Gives the same tenant's rows in another table, inside the same transaction. */
export type OtherRows = <O extends TenantOwned>(entity: Type<O>) => TenantRows<O>;

/**
 * The door to a host's own table whose rows belong to tenants. There is no way in without a `RequestContext`.
 *
 * All writes hold the tenant as departments do: they raise the version of its tree first. So what a work finds out
 * about departments stays true until it is committed, a deleted tenant is refused, and a write is replayed after a
 * conflict or a lost connection without being done twice. The price: writes of one tenant, its departments' included,
 * go one after the other; tenants do not wait for each other.
 */
export class TenantBoundRepository<E extends TenantOwned> {
  readonly #unitOfWork: UnitOfWork;
  readonly #dataSource: TenantryDataSource;
  readonly #entity: Type<E>;

  constructor(unitOfWork: UnitOfWork, dataSource: TenantryDataSource, entity: Type<E>) {
    refuseUnowned(dataSource.getMetadata(entity));
    this.#unitOfWork = unitOfWork;
    this.#dataSource = dataSource;
    this.#entity = entity;
  }

  /** The tenant's rows. Every read is a statement of its own, every write a transaction of its own. */
  in(ctx: RequestContext): TenantRows<E> {
    RequestContext.require(ctx);
    const entity = this.#entity;
    return new TenantRows({
      metadata: this.#dataSource.getMetadata(entity),
      read: (work) =>
        this.#unitOfWork.withoutTransaction((manager) => work(new TenantBound(manager, entity, ctx))),
      write: async (work) => {
        refuseOwnTable(this.#dataSource.getMetadata(entity));
        return this.#hold(ctx, (manager) => work(new TenantBound(manager, entity, ctx)));
      },
    });
  }

  /**
   * Runs `work` in one transaction while nobody else writes to this tenant. It may run again after a conflict, so it
   * must have no effects outside. Inside, use only the rows that it is given: whatever else writes to the same tenant,
   * a service of this library or `in(ctx)`, waits for this transaction, in vain, and is refused after a while. With `once` an equal request
   * gets the first one's result, which must be JSON of at most 64 KB: what is not (a date, a bigint, a cycle) fails before
   * COMMIT.
   */
  async transaction<T>(
    ctx: RequestContext,
    work: (rows: TenantRows<E>, of: OtherRows) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    RequestContext.require(ctx);
    return this.#hold(
      ctx,
      async (manager) => {
        const life = { isOver: false };
        const rowsOf: OtherRows = (entity) => rowsInside(manager, entity, ctx, life);
        try {
          return await work(rowsOf(this.#entity), rowsOf);
        } finally {
          life.isOver = true;
        }
      },
      once,
    );
  }

  #hold<T>(
    ctx: RequestContext,
    work: (manager: EntityManager) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    const { tenantId, callerTenantId } = ctx;
    const lock = (manager: EntityManager) => raiseTreeVersion(manager, tenantId, callerTenantId);
    return this.#unitOfWork.run(tenantId, lock, work, once);
  }
}

function rowsInside<O extends TenantOwned>(
  manager: EntityManager,
  entity: Type<O>,
  ctx: RequestContext,
  life: { readonly isOver: boolean },
): TenantRows<O> {
  const metadata = manager.dataSource.getMetadata(entity);
  refuseUnowned(metadata);
  const table = new TenantBound(manager, entity, ctx);
  // After it, they would read and write without the lock.
  const refuseLate = (): void => {
    if (life.isOver) throw new Error('The transaction of these rows is over.');
  };
  return new TenantRows({
    metadata,
    read: async (work) => {
      refuseLate();
      return work(table);
    },
    write: async (work) => {
      refuseLate();
      refuseOwnTable(metadata);
      return work(table);
    },
  });
}

/** Departments and accounts may be read next to the host's rows; their rules are in their services. */
function refuseOwnTable({ name, tableName }: EntityMetadata): void {
  if (tableName.startsWith(OWN_TABLES))
    throw new Error(`${name} is written by the services of Tenantry alone.`);
}
