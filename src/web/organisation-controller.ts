import {
  applyDecorators,
  Controller,
  Injectable,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { AuthErrors } from '../tenancy/access.errors';
import { attachContext, contextOf, handleAs, RequestContext } from '../tenancy/request-context';
import { callerIn, callerOf, PrincipalResolver, requestIn } from '../tenancy/principal-resolver';
import { TenantAdmission } from '../tenancy/tenant-access';
import { isManager } from '../tenancy/roles';
import { ChangeCursors } from '../journal/change-cursor';
import { inEnvelope } from './envelope';
import { tellsChangeCursor } from './operation.decorator';
import { EnvelopeExceptionFilter } from './exception.filter';
import { CALLER_REFUSALS, MayRefuse } from './refusal-responses';
import { requestIdOf } from './request';
import { keepCheck } from './work-place';
import { RolesGuard } from './roles.guard';
import { checkNames } from './unknown-names';

/** The one place of tenant policy: from here on a request acts for exactly one tenant, which may be served. */
@Injectable()
class TenantScopeInterceptor implements NestInterceptor {
  constructor(
    private readonly principals: PrincipalResolver,
    private readonly admission: TenantAdmission,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const principal = await callerIn(this.principals, context);
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    const { tenantId } = principal;
    const topTenantId = await this.admission.admit(tenantId);
    const request = requestIn(context);
    if (!request) return handleAs(RequestContext.of(principal, null, topTenantId), next);
    keepCheck(request, () => this.#checkAgain(request, tenantId));
    attachContext(request, RequestContext.of(principal, requestIdOf(request), topTenantId));
    return next.handle();
  }

  /** The context stays as it was, so the caller must still be of its tenant. */
  async #checkAgain(request: Request, tenantId: string): Promise<void> {
    const principal = await callerOf(this.principals, request);
    if (principal?.tenantId !== tenantId) throw AuthErrors.TOKEN_INVALID();
    await this.admission.admit(tenantId);
  }
}

/**
 * On a host's own controller or handler: the caller is asked for, its tenant must be one that is served, and `@Ctx()`
 * gives the context. It checks no roles. On a handler of messages, `resolveOther` of the resolver is asked.
 */
export function TenantScoped(): ClassDecorator & MethodDecorator {
  return applyDecorators(UseInterceptors(TenantScopeInterceptor), MayRefuse(...CALLER_REFUSALS));
}

/** The tenant scope and the envelope in one, because each interceptor costs time in Nest. */
@Injectable()
class OrganisationInterceptor extends TenantScopeInterceptor {
  constructor(
    principals: PrincipalResolver,
    admission: TenantAdmission,
    private readonly host: HttpAdapterHost,
    private readonly cursors: ChangeCursors,
  ) {
    super(principals, admission);
  }

  override async intercept(
    context: ExecutionContext,
    next: CallHandler<unknown>,
  ): Promise<Observable<unknown>> {
    const results = await super.intercept(context, next);
    checkNames(context);
    if (tellsChangeCursor(context)) await this.#tellChangeCursor(context);
    return inEnvelope(context, results, this.host);
  }

  /** Before the handler reads anything; to callers who may follow the journal. */
  async #tellChangeCursor(context: ExecutionContext): Promise<void> {
    const http = context.switchToHttp();
    const ctx = contextOf(http.getRequest<Request>());
    if (!isManager(ctx.roles) || ctx.permissions?.includes('change:read') === false) return;
    http.getResponse<Response>().setHeader('X-Change-Cursor', await this.cursors.recent(ctx));
  }
}

/**
 * A controller of this API. All it needs rides on it (role check, envelope, tenant scope, errors),
 * so that in a larger platform nothing has to be registered globally.
 */
export function OrganisationController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(path),
    UseGuards(RolesGuard),
    UseInterceptors(OrganisationInterceptor),
    UseFilters(EnvelopeExceptionFilter),
    ApiTags(tag),
    (controller: object) => {
      controllers.push(controller);
    },
  );
}

const controllers: object[] = [];

/**
 * Names the security schemes in the documentation of all controllers of this API; each is enough. The names are the host's, so
 * they come with its options. Of two applications in one process, the one that is made last decides.
 */
export function documentSecurity(names: readonly string[]): void {
  const documented = {} as Type;
  for (const name of names) ApiSecurity(name)(documented);
  for (const key of Reflect.getOwnMetadataKeys(documented) as string[])
    for (const controller of controllers)
      Reflect.defineMetadata(key, Reflect.getMetadata(key, documented), controller);
}
