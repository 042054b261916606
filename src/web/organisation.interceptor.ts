import { Injectable, type CallHandler, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { inEnvelope } from './envelope.interceptor';
import { refuseUnreadBody } from './unread-body';
import { TenantScopeInterceptor } from './tenant-scope.interceptor';

/** The tenant scope and the envelope in one: what Nest does around an interceptor costs more than both of them. */
@Injectable()
export class OrganisationInterceptor extends TenantScopeInterceptor {
  override async intercept(
    context: ExecutionContext,
    next: CallHandler<unknown>,
  ): Promise<Observable<unknown>> {
    refuseUnreadBody(context, context.switchToHttp().getRequest<Request>());
    return inEnvelope(context, await super.intercept(context, next));
  }
}
