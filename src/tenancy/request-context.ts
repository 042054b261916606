import { AsyncLocalStorage } from 'node:async_hooks';
import { createParamDecorator, type CallHandler, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { Observable } from 'rxjs';
import type { OpenUnit } from '../database/open-unit';
import { limitingScope, type DataScope } from './data-scope';
import { isPrincipal, type Principal } from './principal';
import { requestIn } from './principal-resolver';
import { ROLES, type Role } from './roles';
import { isTenantCode } from './tenant-code';

/**
 * On whose behalf something is done. It is the first argument of every service method, and it cannot be made
 * up: only from a principal, or by host code that says plainly that it acts for the system.
 */
export class RequestContext {
  /** Only the constructor can give it: a prototype is easily borrowed. */
  readonly #genuine = true;

  readonly tenantId: string;
  /** Goes into `createBy` and `updateBy`. */
  readonly username: string;
  readonly roles: readonly Role[];
  readonly subject: string;
  /** The sign-in that the token belongs to, if any. */
  readonly sessionId: string | null;
  /** What the caller is limited to of what its roles allow; null: nothing limits it. */
  readonly permissions: readonly string[] | null;
  /** Of a `dept_admin`: it manages what is below these departments. */
  readonly managedDeptIds: readonly number[];
  /** Which rows of a host the caller may touch; null: all. */
  readonly dataScope: DataScope | null;
  /** The caller's own tenant; another than `tenantId` while the caller acts in a tenant below it. */
  readonly callerTenantId: string;
  /** The top-level tenant that the caller's is or is below: who can make child tenants cannot multiply limits by them. */
  readonly topTenantId: string;
  /** The open unit of work that statements are part of. */
  readonly unit: OpenUnit | null;
  /** Of the HTTP request, for the journal. */
  readonly requestId: string | null;

  private constructor(
    of: Pick<RequestContext, 'tenantId' | 'username' | 'roles' | 'subject'> & Partial<RequestContext>,
  ) {
    if (typeof of.tenantId !== 'string' || !isTenantCode(of.tenantId)) {
      throw new Error('A request context needs the code of a tenant.');
    }
    this.tenantId = of.tenantId;
    this.username = of.username;
    this.roles = of.roles;
    this.subject = of.subject;
    this.sessionId = of.sessionId ?? null;
    this.permissions = of.permissions ?? null;
    this.managedDeptIds = of.managedDeptIds ?? [];
    this.dataScope = of.dataScope ?? null;
    this.callerTenantId = of.callerTenantId ?? of.tenantId;
    this.topTenantId = of.topTenantId ?? this.callerTenantId;
    this.unit = of.unit ?? null;
    this.requestId = of.requestId ?? null;
    Object.freeze(this);
  }

  /** The types say so already; a host in JavaScript has none. */
  static require(ctx: unknown): asserts ctx is RequestContext {
    if (typeof ctx === 'object' && ctx !== null && #genuine in ctx) return;
    throw new Error('This needs a RequestContext.');
  }

  /** For a principal that a host's own sign-in has found; `requestId` goes into the journal, `topTenantId` shares limits. */
  static of(
    principal: Principal,
    requestId: string | null = null,
    topTenantId = principal.tenantId,
  ): RequestContext {
    if (!isPrincipal(principal)) throw new Error('This is not a principal.');
    const { tenantId, username, roles, subject, sessionId = null, permissions = null } = principal;
    const managedDeptIds = Object.freeze([...new Set(principal.managedDeptIds)]);
    const dataScope = limitingScope(principal.dataScope);
    const caller = { tenantId, username, roles, subject, sessionId };
    const limits = { permissions, managedDeptIds, dataScope };
    return new RequestContext({ ...caller, ...limits, requestId, topTenantId });
  }

  /** For code of the host that no user asked for: jobs, imports, seeds. It may do everything in its tenant. */
  static system(tenantId: string): RequestContext {
    return new RequestContext({ tenantId, username: 'system', roles: ROLES, subject: 'system' });
  }

  /** This caller in a tenant below its own. Only for code that has made sure that it is below. */
  below(tenantId: string): RequestContext {
    return new RequestContext(Object.assign({}, this, { tenantId }));
  }

  /** This caller without its data scope: for what concerns the whole tenant, whoever asks. */
  wholeTenant(): RequestContext {
    return new RequestContext(Object.assign({}, this, { dataScope: null }));
  }

  /** This caller, with all statements in a unit of work that is open. */
  inUnit(unit: OpenUnit): RequestContext {
    return new RequestContext(Object.assign({}, this, { unit }));
  }
}

const context = Symbol('requestContext');
type Scoped = Request & { [context]?: RequestContext };

export function attachContext(request: Scoped, ctx: RequestContext): void {
  request[context] = ctx;
}

/** On whose behalf a request acts; it fails on a route that is not tenant-scoped. */
export function contextOf(request: Scoped): RequestContext {
  return requireScope(request[context]);
}

function requireScope(ctx: RequestContext | undefined): RequestContext {
  if (!ctx) throw new Error('This route has no tenant scope.');
  return ctx;
}

/** Of messages, which are no place to keep it: a gateway has one object for all messages of a client. */
const ofMessage = new AsyncLocalStorage<RequestContext>();

/** Handles a message on behalf of this caller. */
export function handleAs(ctx: RequestContext, next: CallHandler<unknown>): Observable<unknown> {
  return new Observable((subscriber) => ofMessage.run(ctx, () => next.handle().subscribe(subscriber)));
}

/** On whose behalf a handler acts; it fails on one that is not tenant-scoped. */
export function contextIn(execution: ExecutionContext): RequestContext {
  const request = requestIn(execution);
  return request ? contextOf(request) : requireScope(ofMessage.getStore());
}

const TYPES = 'design:paramtypes';

/**
 * The class of a handler's parameter, which nothing else sees from then on: pipes of a host that check whatever has a class
 * leave the parameter alone. Undefined where the compiler emits no types, as esbuild.
 */
export function takeParamType(target: object, key: string | symbol, index: number): Type | undefined {
  const types = Reflect.getMetadata(TYPES, target, key) as readonly Type[] | undefined;
  if (!types) return undefined;
  Reflect.defineMetadata(TYPES, types.with(index, Object), target, key);
  return types[index];
}

/** The request's context, as a handler's argument. */
export const Ctx = createParamDecorator(
  (_: unknown, execution: ExecutionContext): RequestContext => contextIn(execution),
  [
    (target, key, index) => {
      if (key !== undefined) takeParamType(target, key, index);
    },
  ],
);
