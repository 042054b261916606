import type { EntityManager, EntityTarget, FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { ScopedTable } from '../database/scoped-table';
import type { UnitOfWork } from '../database/unit-of-work';
import { RequestContext } from './request-context';

/** A row that belongs to one tenant. */
export interface TenantOwned {
  tenantId: string;
}

/**
 * A table as one tenant sees it: every condition gets the tenant added last, every row is stamped with it. Of a unit of work it
 * is read, in the context's open unit if there is one; of a manager it is part of its transaction.
 */
export class TenantBound<E extends TenantOwned> extends ScopedTable<E> {
  constructor(source: EntityManager | UnitOfWork, entity: EntityTarget<E>, ctx: RequestContext) {
    RequestContext.require(ctx);
    const { tenantId, unit } = ctx;
    super('connections' in source ? source.connections(unit) : source, entity, {
      where: { tenantId } as FindOptionsWhere<E>,
      stamp: { tenantId } as unknown as QueryDeepPartialEntity<E>,
    });
  }
}
