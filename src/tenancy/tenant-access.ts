import type { RequestContext } from './request-context';
import { TenantErrors } from './tenant.errors';

/** May users of this tenant be served now? A port; it refuses by throwing. */
export abstract class TenantAdmission {
  abstract admit(tenantId: string): Promise<void> | void;
}

/** A body may name the caller's own tenant, or none. */
export function refuseForeignTenant(ctx: RequestContext, tenantId: string | null | undefined): void {
  if (tenantId != null && tenantId !== ctx.tenantId) throw TenantErrors.MISMATCH();
}

/** Why the users of a tenant are refused, by its state. */
export const NOT_SERVED = {
  DELETED: TenantErrors.DELETED,
  DISABLED: TenantErrors.DISABLED,
  NOT_STARTED: TenantErrors.NOT_STARTED,
  EXPIRED: TenantErrors.EXPIRED,
} as const;
