import { UseInterceptors } from '@nestjs/common';
import { TenantScopeInterceptor } from './tenant-scope.interceptor';

/**
 * On a host's own controller or handler: the caller is asked for, its tenant must be one that is served, and `@Ctx()`
 * gives the context. It checks no roles.
 */
export function TenantScoped(): ClassDecorator & MethodDecorator {
  return UseInterceptors(TenantScopeInterceptor);
}
