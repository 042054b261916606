import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { parseAccountName } from '../auth/account-name';
import type { Principal } from '../auth/principal';
import { PLATFORM_TENANT } from '../tenant/platform-tenant';
import { LimitErrors } from './limits.errors';
import { RateCounter } from './rate-counter';

/** How many requests a minute; null turns limits off. */
export abstract class RateLimits {
  abstract readonly perMinute: {
    readonly loginsOfAddress: number;
    readonly loginsOfAccount: number;
    readonly requestsOfUser: number;
  } | null;
}

/** Marks a route that takes credentials: it is limited by address and by account. */
export const TakesCredentials = Reflector.createDecorator<true | undefined>();

const WINDOW_MS = 60_000;

interface Limit {
  readonly key: string;
  readonly most: number;
}

/** Runs after the token check: callers are limited by tenant and user, credentials by address and account. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly counter: RateCounter,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const limits = this.#limitsOf(context, http.getRequest<Request>());
    const counts = await Promise.all(
      limits.map(async ({ key, most }) => ({ most, ...(await this.counter.hit(key, WINDOW_MS)) })),
    );
    const [tightest] = counts.sort((a, b) => a.most - a.hits - (b.most - b.hits));
    if (!tightest) return true;
    const reset = Math.ceil(tightest.endsIn / 1000);
    const response = http.getResponse<Response>().set({
      'RateLimit-Limit': String(tightest.most),
      'RateLimit-Remaining': String(Math.max(tightest.most - tightest.hits, 0)),
      'RateLimit-Reset': String(reset),
    });
    if (tightest.hits <= tightest.most) return true;
    response.set('Retry-After', String(Math.max(reset, 1)));
    throw LimitErrors.TOO_MANY();
  }

  #takesCredentials(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride(TakesCredentials, [context.getHandler()]) === true;
  }

  #limitsOf(context: ExecutionContext, request: Request): Limit[] {
    const { perMinute } = this.limits;
    if (!perMinute) return [];
    if (this.#takesCredentials(context)) {
      const account = accountNamed(request.body);
      return [
        { key: `address:${request.ip ?? ''}`, most: perMinute.loginsOfAddress },
        ...(account === null ? [] : [{ key: `account:${account}`, most: perMinute.loginsOfAccount }]),
      ];
    }
    const principal = request.user as Principal | undefined;
    if (!principal) return [];
    return [{ key: `user:${principal.tenantId}|${principal.subject}`, most: perMinute.requestsOfUser }];
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
