import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { AuthErrors } from './auth.errors';
import { JWT_STRATEGY } from './jwt.strategy';
import type { Principal } from './principal';
import { Public } from './public.decorator';

/** Global: a route is closed to callers without a valid token unless it says `@Public()`. */
@Injectable()
export class JwtAuthGuard extends AuthGuard(JWT_STRATEGY) {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override canActivate(
    context: ExecutionContext,
  ): ReturnType<InstanceType<ReturnType<typeof AuthGuard>>['canActivate']> {
    const open = this.reflector.getAllAndOverride(Public, [context.getHandler(), context.getClass()]);
    return open === true ? true : super.canActivate(context);
  }

  // The parent's signature is generic in what it returns; ours always returns a principal.
  override handleRequest = ((
    error: unknown,
    principal: Principal | false,
    info: unknown,
    context: ExecutionContext,
  ) => {
    if (!error && principal) return principal;
    if (info instanceof Error && info.name === 'TokenExpiredError') throw AuthErrors.TOKEN_EXPIRED();
    const { authorization } = context.switchToHttp().getRequest<Request>().headers;
    throw authorization === undefined ? AuthErrors.TOKEN_MISSING() : AuthErrors.TOKEN_INVALID();
  }) as InstanceType<ReturnType<typeof AuthGuard>>['handleRequest'];
}
