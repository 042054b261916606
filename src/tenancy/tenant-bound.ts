import type { EntityManager, EntityTarget, FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { ScopedTable } from '../database/scoped-table';
import { RequestContext } from './request-context';

/** A row that belongs to one tenant. */
export interface TenantOwned {
  tenantId: string;
}

/** A table as one tenant sees it: every condition gets the tenant added last, every row is stamped with it. */
export class TenantBound<E extends TenantOwned> extends ScopedTable<E> {
  constructor(manager: EntityManager, entity: EntityTarget<E>, ctx: RequestContext) {
    RequestContext.require(ctx);
    const { tenantId } = ctx;
    super(manager, entity, {
      where: { tenantId } as FindOptionsWhere<E>,
      stamp: { tenantId } as unknown as QueryDeepPartialEntity<E>,
    });
  }
}
