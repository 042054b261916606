import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { parseAccountName } from '../auth/account-name';
import { readJsonBody } from '../http/json-body';
import { PLATFORM_TENANT } from '../tenant/platform-tenant';
import { LimitErrors } from './limits.errors';
import { RateLimiter, RateLimits, type Limit } from './rate-limiter';

/** Marks a route that takes credentials: it is limited by address and by account. */
export const TakesCredentials = Reflector.createDecorator<true | undefined>();

/** Runs after the token check: callers are limited by tenant and user, credentials by address and account. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const takesCredentials = this.#takesCredentials(context);
    // It names the account.
    if (takesCredentials) await readJsonBody(request, response, 'credentials');
    const isAdmitted = takesCredentials
      ? this.limiter.admits(this.#limitsOfCredentials(request), response)
      : this.limiter.admitsCaller(request, response);
    if (await isAdmitted) return true;
    throw LimitErrors.TOO_MANY();
  }

  #takesCredentials(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride(TakesCredentials, [context.getHandler()]) === true;
  }

  #limitsOfCredentials(request: Request): Limit[] {
    const { perMinute } = this.limits;
    if (!perMinute) return [];
    const account = accountNamed(request.body);
    return [
      { key: `address:${request.ip ?? ''}`, most: perMinute.loginsOfAddress },
      ...(account === null ? [] : [{ key: `account:${account}`, most: perMinute.loginsOfAccount }]),
    ];
  }
}

/** The account that credentials name, in whatever form they name it; nothing has checked them yet. */
function accountNamed(body: unknown): string | null {
  const { tenantId, username } = (body ?? {}) as Record<string, unknown>;
  if (typeof username !== 'string') return null;
  const sent = typeof tenantId === 'string' ? tenantId.trim() : '';
  const named = parseAccountName(username.trim(), sent || PLATFORM_TENANT);
  return `${named.tenantId}/${named.username}`.slice(0, 400);
}
