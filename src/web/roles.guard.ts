import {
  ForbiddenException,
  Injectable,
  Scope,
  type CanActivate,
  type ExecutionContext,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { Reflector, type ModuleRef } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { AuthErrors } from '../tenancy/access.errors';
import type { Principal } from '../tenancy/principal';
import { callerOf, forgetCaller, PrincipalResolver } from '../tenancy/principal-resolver';
import { RequestContext } from '../tenancy/request-context';
import { requirePermission } from '../tenancy/permissions';
import { requireRole, type Role } from '../tenancy/roles';
import { echoRequestId, notePassedGuards, requestIdOf } from './request';
import { keepCheck } from './work-place';

/** The roles that may call a route. */
export const AllowRoles = Reflector.createDecorator<readonly Role[]>();
/** The permission that a route needs beside the role; a route without it needs none. */
export const NeedsPermission = Reflector.createDecorator<string>();
/** The name of an operation in documents, by which a host may allow it. */
export const OperationId = Reflector.createDecorator<string>();

/** Whether a host allows an operation to a caller whose role does. */
export type Authorize = (
  ctx: RequestContext,
  operationId: string,
  request: Request & { readonly user?: unknown },
) => boolean | Promise<boolean>;

/**
 * What a host has before Tenantry's controllers: guards, which run before ours, and `authorize`, which is asked after our role check.
 * Guards that are classes are made by Nest, when they are first needed.
 */
export class HostGuards implements OnModuleInit {
  #guards: readonly CanActivate[] = [];

  constructor(
    private readonly guards: readonly (CanActivate | Type<CanActivate>)[],
    private readonly allows: Authorize | undefined,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** At the start: a guard that cannot be made stops it. */
  async onModuleInit(): Promise<void> {
    this.#guards = await Promise.all(this.guards.map((guard) => this.#instanceOf(guard)));
  }

  async admit(context: ExecutionContext): Promise<void> {
    for (const guard of this.#guards) {
      const answer = guard.canActivate(context);
      if (!(await (isObservable(answer) ? lastValueFrom(answer) : answer))) throw new ForbiddenException();
    }
  }

  async authorize(principal: Principal, context: ExecutionContext, request: Request): Promise<void> {
    if (!this.allows) return;
    const ctx = RequestContext.of(principal, requestIdOf(request));
    const operationId = Reflect.getMetadata(OperationId.KEY, context.getHandler()) as string;
    if (!(await this.allows(ctx, operationId, request))) throw AuthErrors.ROLE();
  }

  /** The host's own instance, where it has one. */
  async #instanceOf(guard: CanActivate | Type<CanActivate>): Promise<CanActivate> {
    if (typeof guard !== 'function') return guard;
    const needed = (Reflect.getMetadata('design:paramtypes', guard) ?? []) as readonly Type[];
    if ([guard, ...needed].some((each) => this.#isScoped(each)))
      throw new Error(
        `Tenantry cannot start: the guard ${guard.name} must not depend on the request's scope.`,
      );
    try {
      return this.moduleRef.get<CanActivate>(guard, { strict: false });
    } catch {
      return await this.moduleRef.create(guard);
    }
  }

  /** Nest would make such a guard for each request, and `create` would wait for a request for ever. */
  #isScoped(type: Type): boolean {
    try {
      return this.moduleRef.introspect(type).scope === Scope.REQUEST;
    } catch {
      return false;
    }
  }
}

/** Admits a caller with one of the route's roles, and with its permission; a route that names no role is closed. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly principals: PrincipalResolver,
    private readonly hostGuards: HostGuards,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    echoRequestId(request, context.switchToHttp().getResponse<Response>());
    await this.#check(context, request);
    keepCheck(request, () => {
      forgetCaller(request);
      return this.#check(context, request);
    });
    return true;
  }

  /** It is the last guard of a route: global guards of the host come before it. */
  async #check(context: ExecutionContext, request: Request): Promise<void> {
    notePassedGuards(request, false);
    await this.hostGuards.admit(context);
    const principal = await callerOf(this.principals, request);
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    const allowed = this.reflector.get(AllowRoles, context.getHandler()) as readonly Role[] | undefined;
    requireRole(principal.roles, allowed ?? []);
    const permission = this.reflector.get(NeedsPermission, context.getHandler()) as string | undefined;
    if (permission !== undefined) requirePermission(principal.permissions ?? null, permission);
    await this.hostGuards.authorize(principal, context, request);
    notePassedGuards(request, true);
  }
}
