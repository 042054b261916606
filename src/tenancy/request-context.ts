import { isPrincipal, type Principal } from './principal';
import { ROLES, type Role } from './roles';
import { isTenantCode } from './tenant-code';

/**
 * On whose behalf something is done. It is the first argument of every service method, and it cannot be made
 * up: only from a principal, or by host code that says plainly that it acts for the system.
 */
export class RequestContext {
  /** Only the constructor can give it: a prototype is easily borrowed. */
  readonly #genuine = true;

  private constructor(
    readonly tenantId: string,
    /** Goes into `createBy` and `updateBy`. */
    readonly username: string,
    readonly roles: readonly Role[],
    /** The token's subject. */
    readonly subject: string,
    /** The sign-in that the token belongs to, if any. */
    readonly sessionId: string | null,
    /** The caller's own tenant; another than `tenantId` while the caller acts in a tenant below it. */
    readonly callerTenantId: string = tenantId,
  ) {
    if (typeof tenantId !== 'string' || !isTenantCode(tenantId)) {
      throw new Error('A request context needs the code of a tenant.');
    }
    Object.freeze(this);
  }

  /** Refuses what was made up by somebody who may not. The types say so already; a host in JavaScript has none. */
  static require(ctx: unknown): asserts ctx is RequestContext {
    if (typeof ctx === 'object' && ctx !== null && #genuine in ctx) return;
    throw new Error('This needs a RequestContext.');
  }

  /** For whom a host's own sign-in has found. */
  static of(principal: Principal): RequestContext {
    if (!isPrincipal(principal)) throw new Error('This is not a principal.');
    const { tenantId, username, roles, subject, sessionId } = principal;
    return new RequestContext(tenantId, username, roles, subject, sessionId ?? null);
  }

  /** For code of the host that no user asked for: jobs, imports, seeds. It may do everything in its tenant. */
  static system(tenantId: string): RequestContext {
    return new RequestContext(tenantId, 'system', ROLES, 'system', null);
  }

  /** The same caller in a tenant below its own. Only for code that has made sure that it is below. */
  below(tenantId: string): RequestContext {
    const { username, roles, subject, sessionId, callerTenantId } = this;
    return new RequestContext(tenantId, username, roles, subject, sessionId, callerTenantId);
  }
}
