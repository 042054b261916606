import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { AuthErrors } from '../../tenancy/access.errors';
import { JWT_STRATEGY } from './jwt.strategy';
import type { Principal } from '../../tenancy/principal';
import { Public } from './public.decorator';
import { VerifiedTokens } from './verified-tokens';

/**
 * Global: a route is closed to callers without a valid token unless it says `@Public()`. Passport looks at every token
 * that it has not seen before; one that it has verified costs no more than finding it again.
 */
@Injectable()
export class JwtAuthGuard extends AuthGuard(JWT_STRATEGY) {
  constructor(
    private readonly reflector: Reflector,
    private readonly verified: VerifiedTokens,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const open = this.reflector.getAllAndOverride(Public, [context.getHandler(), context.getClass()]);
    if (open === true) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const known = await this.verified.recall(request);
    if (!known) return (await super.canActivate(context)) as boolean;
    request.user = known;
    return true;
  }

  // The parent's signature is generic in what it returns; ours always returns a principal.
  override handleRequest = ((
    error: unknown,
    principal: Principal | false,
    info: unknown,
    context: ExecutionContext,
  ) => {
    // The account or the session could not be looked up: that says nothing about the token.
    if (error) throw error as Error;
    if (principal) return principal;
    if (info instanceof Error && info.name === 'TokenExpiredError') throw AuthErrors.TOKEN_EXPIRED();
    const { authorization } = context.switchToHttp().getRequest<Request>().headers;
    throw authorization === undefined ? AuthErrors.TOKEN_MISSING() : AuthErrors.TOKEN_INVALID();
  }) as InstanceType<ReturnType<typeof AuthGuard>>['handleRequest'];
}
