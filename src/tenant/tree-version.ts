import type { EntityManager } from 'typeorm';
import { TenantEntity } from './tenant.entity';
import { TenantErrors } from './tenant.errors';

/**
 * The first statement of every structural write to a tenant's data. One server locks the row by it; on a
 * cluster, where locks do not cross nodes, it is what two concurrent writes collide on.
 */
export async function raiseTreeVersion(manager: EntityManager, tenantId: string): Promise<void> {
  const { affected } = await manager
    .createQueryBuilder()
    .update(TenantEntity)
    .set({ treeVersion: () => 'tree_ver + 1' })
    .where({ tenantId, delFlag: '0' })
    .execute();
  if (affected !== 1) throw TenantErrors.DELETED();
}
