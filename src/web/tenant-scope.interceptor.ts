import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { AuthErrors } from '../tenancy/access.errors';
import { callerOf, PrincipalResolver } from '../tenancy/principal-resolver';
import { attachContext, RequestContext } from '../tenancy/request-context';
import { TenantAdmission } from '../tenancy/tenant-access';

/** The one place of tenant policy: from here on a request acts for exactly one tenant, which may be served. */
@Injectable()
export class TenantScopeInterceptor implements NestInterceptor {
  constructor(
    private readonly principals: PrincipalResolver,
    private readonly admission: TenantAdmission,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const principal = await callerOf(this.principals, request);
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    await this.admission.admit(principal.tenantId);
    attachContext(request, RequestContext.of(principal));
    return next.handle();
  }
}
