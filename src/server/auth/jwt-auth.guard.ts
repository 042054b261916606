import type { KeyObject } from 'node:crypto';
import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { verify } from 'jsonwebtoken';
import { Strategy, type SecretOrKeyProvider } from 'passport-jwt';
import { AuthErrors } from '../../tenancy/access.errors';
import { principalOf, type Principal } from '../../tenancy/principal';
import { keepCheck } from '../../web/work-place';
import { ENV, type Env } from '../config/env';
import { acceptedKeys, JWT_ALGORITHM } from './jwt-key';
import { JwksKeys, OUTSIDE_ALGORITHMS, translateClaims } from './outside-provider';
import { Public } from './public.decorator';
import { AccountStateCache, bearerToken, VerifiedTokens } from './verified-tokens';

const JWT_STRATEGY = 'tenantry-jwt';
/** Such a token was good when it was seen, and must be verified again each time. */
const NEVER = 0;

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, JWT_STRATEGY) {
  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly accounts: AccountStateCache,
    private readonly verified: VerifiedTokens,
  ) {
    super({
      jwtFromRequest: bearerToken,
      secretOrKeyProvider: keyProvider(env),
      algorithms: [
        ...(env.LOCAL_ACCOUNTS === 'on' ? ([JWT_ALGORITHM] as const) : []),
        ...(env.JWT_JWKS_URI === undefined ? [] : OUTSIDE_ALGORITHMS),
      ],
      issuer: env.JWT_ISSUER,
      audience: env.JWT_AUDIENCE,
      passReqToCallback: true,
    });
  }

  async validate(request: Request, claims: unknown): Promise<Principal | null> {
    const token = bearerToken(request) ?? '';
    // The algorithm chose the key, and the signature has been checked with it.
    const isOutside = headerOf(token).alg !== JWT_ALGORITHM;
    const principal = principalOf(isOutside ? translateClaims(claims, this.env) : claims);
    if (!principal) return null;
    this.verified.remember(token, principal, isOutside ? NEVER : (claims as { exp: number }).exp);
    return isOutside ? principal : this.accounts.confirm(principal);
  }
}

/**
 * Global: a route is closed to callers without a valid token or key unless it says `@Public()`. Passport verifies every token
 * once; after that only its account and its expiry are checked. A key is looked up.
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
    await this.#check(context, request);
    keepCheck(request, () => this.#check(context, request));
    return true;
  }

  async #check(context: ExecutionContext, request: Request): Promise<void> {
    const known = await this.verified.recall(request);
    if (known) request.user = known;
    else await super.canActivate(context);
  }

  override handleRequest<T>(
    error: unknown,
    principal: T | false,
    info: unknown,
    context: ExecutionContext,
  ): T {
    // The account or the session could not be looked up: that says nothing about the token.
    if (error) throw error as Error;
    if (principal) return principal;
    if (info instanceof Error && info.name === 'TokenExpiredError') throw AuthErrors.TOKEN_EXPIRED();
    const { authorization } = context.switchToHttp().getRequest<Request>().headers;
    throw authorization === undefined ? AuthErrors.TOKEN_MISSING() : AuthErrors.TOKEN_INVALID();
  }
}

/** Each algorithm has its own keys: a public key is never taken for a secret. */
function keyProvider(env: Env): SecretOrKeyProvider {
  const own = env.LOCAL_ACCOUNTS === 'on' ? acceptedKeys(env) : [];
  const published = env.JWT_JWKS_URI === undefined ? null : new JwksKeys(env.JWT_JWKS_URI);
  const find = async (token: string): Promise<KeyObject | null> => {
    const { alg, kid, crit } = headerOf(token);
    // RFC 7515, 4.1.11: extensions that must be understood. None is understood here.
    if (crit !== undefined) return null;
    if (alg === JWT_ALGORITHM) return signerAmong(own, token);
    if (!published || typeof alg !== 'string' || typeof kid !== 'string') return null;
    return published.find(kid, alg);
  };
  return (_, token: string, done) => {
    // jsonwebtoken takes a KeyObject; the types of passport-jwt do not know it.
    const give = (found: KeyObject | null): void => {
      done(found ? null : new Error('no key for this token'), found as unknown as Buffer);
    };
    find(token).then(give, done);
  };
}

/** passport-jwt takes one key for a token. Of several it is the one that has signed it, and the first where none has. */
function signerAmong([first, ...others]: readonly KeyObject[], token: string): KeyObject | null {
  const hasSigned = (key: KeyObject): boolean => {
    try {
      // Its times are checked later.
      verify(token, key, { algorithms: [JWT_ALGORITHM], ignoreExpiration: true, ignoreNotBefore: true });
      return true;
    } catch {
      return false;
    }
  };
  return others.find(hasSigned) ?? first ?? null;
}

function headerOf(token: string): { alg?: unknown; kid?: unknown; crit?: unknown } {
  try {
    const [header = ''] = token.split('.', 1);
    return JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
  } catch {
    return {};
  }
}
