import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AuthErrors } from '../../tenancy/access.errors';
import { callerOf, PrincipalResolver } from '../../tenancy/principal-resolver';
import { RequestContext } from '../../tenancy/request-context';
import { EntitlementService } from './entitlement.service';

const MENU = 'tenantry:requireMenu';

/** On a host's controller or handler: the package of the caller's tenant must have this menu, or the answer is a 403. */
export function RequireMenu(menuId: number): ClassDecorator & MethodDecorator {
  return applyDecorators(SetMetadata(MENU, menuId), UseGuards(MenuGuard));
}

@Injectable()
class MenuGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly principals: PrincipalResolver,
    private readonly entitlements: EntitlementService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const principal = await callerOf(this.principals, context.switchToHttp().getRequest<Request>());
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    const menus = this.reflector.getAll<(number | undefined)[]>(MENU, [
      context.getHandler(),
      context.getClass(),
    ]);
    const required = menus.filter((menu) => menu !== undefined);
    await this.entitlements.requireMenus(RequestContext.of(principal), required);
    return true;
  }
}
