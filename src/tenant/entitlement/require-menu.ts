import {
  applyDecorators,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthErrors } from '../../tenancy/access.errors';
import { callerIn, PrincipalResolver } from '../../tenancy/principal-resolver';
import { RequestContext } from '../../tenancy/request-context';
import { TenantAdmission } from '../../tenancy/tenant-access';
import { CALLER_REFUSALS, MayRefuse } from '../../web/refusal-responses';
import { EntitlementErrors } from './entitlement.errors';
import { EntitlementService } from './entitlement.service';

const MENUS = 'tenantry:requireMenus';

/**
 * On a host's controller or handler: the caller's tenant must be one that is served, and its package must have this menu, or the
 * answer is a 403. Guards that sign callers in must come before it.
 */
export function RequireMenu(menuId: number): ClassDecorator & MethodDecorator {
  const remember = (target: object, _?: unknown, method?: { readonly value?: object }): void => {
    const marked = method?.value ?? target;
    const others = (Reflect.getOwnMetadata(MENUS, marked) as number[] | undefined) ?? [];
    Reflect.defineMetadata(MENUS, [...others, menuId], marked);
  };
  const refusals = MayRefuse(...CALLER_REFUSALS, EntitlementErrors.MENU_NOT_LICENSED);
  return applyDecorators(remember, UseGuards(MenuGuard), refusals);
}

@Injectable()
class MenuGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly principals: PrincipalResolver,
    private readonly admission: TenantAdmission,
    private readonly entitlements: EntitlementService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const principal = await callerIn(this.principals, context);
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    await this.admission.admit(principal.tenantId);
    const required = this.reflector.getAllAndMerge<number[]>(MENUS, [
      context.getHandler(),
      context.getClass(),
    ]);
    await this.entitlements.requireMenus(RequestContext.of(principal), required);
    return true;
  }
}
