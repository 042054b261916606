import type { EntityManager } from 'typeorm';
import type { Refusal } from '../errors/refusal';
import type { RequestContext } from './request-context';
import { TenantErrors } from './tenant.errors';

/** What is known of a tenant without a query per request. A port. */
export abstract class TenantAdmission {
  /**
   * Refuses by throwing when users of this tenant may not be served now. Gives the top-level tenant that it is or is below: all
   * tenants of that branch share limits.
   */
  abstract admit(tenantId: string): Promise<string>;
  /** The top-level tenant as far as it is remembered, or else the tenant itself: for fair shares, not for access. */
  abstract knownTopTenantOf(tenantId: string): string;
}

/** Who belongs to departments and tenants? A port: a host answers from its own users, the service from its accounts. */
export abstract class UserDirectory {
  /**
   * Of these departments, at most 500, the ones that users belong to. It is asked inside the unit of work that is about to
   * delete them, several times when they are more; `manager` is that transaction.
   */
  abstract findOccupied(
    ctx: RequestContext,
    deptIds: readonly number[],
    manager: EntityManager,
  ): Promise<number[]>;

  /** How many users the tenant has, for `accounts.used` of its entitlements. Without it, that is 0. */
  countUsers?(ctx: RequestContext, manager: EntityManager): Promise<number>;
}

/** What `userDirectory: 'none'` stands for: departments have no users. */
export class NoUsers extends UserDirectory {
  override findOccupied(): Promise<number[]> {
    return Promise.resolve([]);
  }
}

/** Why the users of a tenant are refused, by its state. */
export const NOT_SERVED = {
  DELETED: TenantErrors.DELETED,
  DISABLED: TenantErrors.DISABLED,
  NOT_STARTED: TenantErrors.NOT_STARTED,
  EXPIRED: TenantErrors.EXPIRED,
} as const;

/** A body may name the caller's own tenant, or none. */
export function refuseForeignTenant(ctx: RequestContext, tenantId: string | null | undefined): void {
  if (tenantId != null && tenantId !== ctx.tenantId) throw TenantErrors.MISMATCH();
}

/** The refusal for a deleted tenant: a caller's own tenant is named as such, any other does not exist. */
export function goneTenant(tenantId: string, callerTenantId: string): Refusal {
  return tenantId === callerTenantId ? TenantErrors.DELETED() : TenantErrors.NOT_FOUND();
}
