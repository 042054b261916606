import { Raw, type EntityManager, type FindOptionsWhere } from 'typeorm';
import type { RequestContext } from '../tenancy/request-context';
import { ScopedTable } from '../database/scoped-table';
import { TenantEntity } from './tenant.entity';

/** The caller's tenant and all below it. Codes are never reused, so a path that names the caller's is below it. */
export function subtreeOf({ tenantId }: RequestContext, manager: EntityManager): ScopedTable<TenantEntity> {
  if (!tenantId) throw new Error('A tenant is needed to look from.');
  const lineage = Raw((ancestors) => `INSTR(CONCAT(',', ${ancestors}, ','), :lineage) > 0`, {
    lineage: `,${tenantId},`,
  });
  const where: FindOptionsWhere<TenantEntity>[] = [{ tenantId }, { ancestors: lineage }];
  return new ScopedTable(manager, TenantEntity, { where });
}
