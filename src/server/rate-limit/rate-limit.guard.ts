import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { parseAccountName, usernameKey } from '../../tenancy/account-name';
import { clientNetwork } from '../../web/request';
import { HttpErrors } from '../../errors/http.errors';
import { readJsonBody } from '../../web/json-body';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Principal } from '../../tenancy/principal';
import { RateLimits } from './rate-limits';

/** What a route takes from callers who have no token yet; an OAuth2 grant says itself which of the two it brings. */
type Credentials = 'password' | 'refresh token' | 'grant';

/** Marks a route that takes credentials. */
export const TakesCredentials = Reflector.createDecorator<Credentials | undefined>();

const SESSION_ID = /^[0-9a-f-]{36}(?=\.)/;

/**
 * Runs after the token check: callers are limited by tenant and user; sign-ins by client, and by account and client;
 * refreshes by client, and by session and client. No client can use up what others need to sign in to the same account.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const credentials = this.reflector.get(TakesCredentials, context.getHandler());
    // It names the account or the session.
    if (credentials) await readJsonBody(request, response, 'credentials');
    if (!this.limits.isOn) return true;
    let tightest: { limit: number; left: number; endsInMs: number } | undefined;
    for (const { limiter, key } of this.#limitsOf(request, credentials)) {
      // Unlike `consume` it does not throw when nothing is left.
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key);
      const left = limiter.points - consumedPoints;
      if (!tightest || left < tightest.left)
        tightest = { limit: limiter.points, left, endsInMs: msBeforeNext };
      // What comes after a limit that is reached is not counted.
      if (left < 0) break;
    }
    if (!tightest) return true;
    const seconds = Math.max(Math.ceil(tightest.endsInMs / 1000), 0);
    response.setHeader('RateLimit-Limit', tightest.limit);
    response.setHeader('RateLimit-Remaining', Math.max(tightest.left, 0));
    response.setHeader('RateLimit-Reset', seconds);
    if (tightest.left >= 0) return true;
    response.setHeader('Retry-After', Math.max(seconds, 1));
    throw HttpErrors.TOO_MANY();
  }

  #limitsOf(request: Request, credentials?: Credentials): { limiter: RateLimiterAbstract; key: string }[] {
    if (!credentials) {
      const principal = request.user as Principal | undefined;
      if (!principal) return [];
      return [{ limiter: this.limits.ofUser, key: `user:${principal.tenantId}|${principal.subject}` }];
    }
    const body = (request.body ?? {}) as Record<string, unknown>;
    const client = clientNetwork(request);
    const isRefresh =
      credentials === 'refresh token' || (credentials === 'grant' && body.grant_type === 'refresh_token');
    // Counted apart: refreshes with made-up tokens must not use up the sign-ins of others at the same address.
    const [kind, name] = isRefresh ? ['refresh', sessionNamed(body)] : ['sign-in', accountNamed(body)];
    return [
      { limiter: this.limits.ofAddress, key: `${kind}:${client}` },
      ...(name === null ? [] : [{ limiter: this.limits.ofAccount, key: `${kind}:${client}|${name}` }]),
    ];
  }
}

/** The session that a refresh token names, in the field of either door. */
function sessionNamed({
  refreshToken,
  refresh_token: token = refreshToken,
}: Record<string, unknown>): string | null {
  return typeof token === 'string' ? (SESSION_ID.exec(token)?.[0] ?? null) : null;
}

/** The account that credentials name, in whatever form they name it; nothing has checked them yet. */
function accountNamed({ tenantId, username }: Record<string, unknown>): string | null {
  if (typeof username !== 'string') return null;
  const sent = typeof tenantId === 'string' ? tenantId.trim() : '';
  const named = parseAccountName(username.trim(), sent || PLATFORM_TENANT);
  return `${named.tenantId.slice(0, 64)}/${usernameKey(named.username.slice(0, 256))}`;
}
