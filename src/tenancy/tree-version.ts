import type { EntityManager } from 'typeorm';
import { runPrepared } from '../database/prepared';
import type { Refusal } from '../errors/refusal';
import { TenantErrors } from './tenant.errors';

const RAISE = "UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = ? AND del_flag = '0'";

/**
 * The first statement of every structural write to a tenant's data. One server locks the row by it; on a
 * cluster, where locks do not cross nodes, it is what two concurrent writes collide on.
 */
export async function raiseTreeVersion(
  manager: EntityManager,
  tenantId: string,
  callerTenantId = tenantId,
): Promise<void> {
  const { affected } = await runPrepared(manager, RAISE, [tenantId]);
  if (affected !== 1) throw goneTenant(tenantId, callerTenantId);
}

/** The refusal for a deleted tenant: a caller's own tenant is named as such, any other does not exist. */
export function goneTenant(tenantId: string, callerTenantId: string): Refusal {
  return tenantId === callerTenantId ? TenantErrors.DELETED() : TenantErrors.NOT_FOUND();
}
