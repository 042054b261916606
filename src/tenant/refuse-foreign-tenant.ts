import type { RequestContext } from '../tenancy/request-context';
import { TenantErrors } from './tenant.errors';

/** A body may name the caller's own tenant, or none. */
export function refuseForeignTenant(ctx: RequestContext, tenantId: string | null | undefined): void {
  if (tenantId != null && tenantId !== ctx.tenantId) throw TenantErrors.MISMATCH();
}
