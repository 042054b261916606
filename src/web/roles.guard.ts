import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AuthErrors } from '../tenancy/access.errors';
import { callerOf, PrincipalResolver } from '../tenancy/principal-resolver';
import type { Role } from '../tenancy/roles';

/** The roles that may call a route. */
export const AllowRoles = Reflector.createDecorator<readonly Role[]>();

/** Admits a caller with one of the route's roles; a route that names none is closed. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly principals: PrincipalResolver,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const principal = await callerOf(this.principals, context.switchToHttp().getRequest<Request>());
    if (!principal) throw AuthErrors.TOKEN_MISSING();
    const allowed = this.reflector.get(AllowRoles, context.getHandler()) as readonly Role[] | undefined;
    if (!allowed?.some((role) => principal.roles.includes(role))) throw AuthErrors.ROLE();
    return true;
  }
}
