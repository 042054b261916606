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
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { AuthErrors } from '../tenancy/access.errors';
import { attachContext, RequestContext } from '../tenancy/request-context';
import { callerOf, PrincipalResolver } from '../tenancy/principal-resolver';
import { TenantAdmission } from '../tenancy/tenant-access';
import { inEnvelope } from './envelope';
import { EnvelopeExceptionFilter } from './exception.filter';
import { requestIdOf } from './request';
import { RolesGuard } from './roles.guard';

/** The one place of tenant policy: from here on a request acts for exactly one tenant, which may be served. */
@Injectable()
class TenantScopeInterceptor implements NestInterceptor {
  constructor(
    private readonly principals: PrincipalResolver,
    private readonly admission: TenantAdmission,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const principal = await callerOf(this.principals, request);
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    await this.admission.admit(principal.tenantId);
    attachContext(request, RequestContext.of(principal, requestIdOf(request)));
    return next.handle();
  }
}

/**
 * On a host's own controller or handler: the caller is asked for, its tenant must be one that is served, and `@Ctx()`
 * gives the context. It checks no roles.
 */
export function TenantScoped(): ClassDecorator & MethodDecorator {
  return UseInterceptors(TenantScopeInterceptor);
}

/** The tenant scope and the envelope in one, because each interceptor costs time in Nest. */
@Injectable()
class OrganisationInterceptor extends TenantScopeInterceptor {
  constructor(
    principals: PrincipalResolver,
    admission: TenantAdmission,
    private readonly host: HttpAdapterHost,
  ) {
    super(principals, admission);
  }

  override async intercept(
    context: ExecutionContext,
    next: CallHandler<unknown>,
  ): Promise<Observable<unknown>> {
    return inEnvelope(context, await super.intercept(context, next), this.host);
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
