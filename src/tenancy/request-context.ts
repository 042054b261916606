import type { Principal } from '../auth/principal';

/**
 * On whose behalf something is done. It is the first argument of every service method, and it cannot be made
 * up: only from a principal, or by host code that says plainly that it acts for the system.
 */
export class RequestContext {
  private constructor(
    readonly tenantId: string,
    /** Goes into `createBy` and `updateBy`. */
    readonly username: string,
  ) {
    if (!tenantId) throw new Error('A request context needs a tenant.');
    Object.freeze(this);
  }

  static of(principal: Principal): RequestContext {
    return new RequestContext(principal.tenantId, principal.username);
  }

  /** For code of the host that no user asked for: jobs, imports, seeds. */
  static system(tenantId: string): RequestContext {
    return new RequestContext(tenantId, 'system');
  }
}
