import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy, type SecretOrKeyProvider } from 'passport-jwt';
import { bearerToken } from './bearer-token';
import { JWT_ALGORITHM, JwtSettings } from './jwt-settings';
import { JwksKeys, OUTSIDE_ALGORITHMS, translateClaims } from './outside-provider';
import { principalOf, type Principal } from '../../tenancy/principal';
import { AccountStateCache } from './account-state-cache';
import { VerifiedTokens } from './verified-tokens';

export const JWT_STRATEGY = 'tenantry-jwt';

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, JWT_STRATEGY) {
  constructor(
    private readonly settings: JwtSettings,
    private readonly subjects: AccountStateCache,
    private readonly verified: VerifiedTokens,
  ) {
    const { issuer, audience, local, outside } = settings;
    super({
      jwtFromRequest: bearerToken,
      secretOrKeyProvider: keyProvider(settings),
      algorithms: [...(local ? ([JWT_ALGORITHM] as const) : []), ...(outside ? OUTSIDE_ALGORITHMS : [])],
      issuer,
      audience,
      passReqToCallback: true,
    });
  }

  async validate(request: Request, claims: unknown): Promise<Principal | null> {
    const { outside } = this.settings;
    const token = bearerToken(request) ?? '';
    // The algorithm told the key, and the key has been proven.
    if (outside && algorithmOf(token) !== JWT_ALGORITHM) {
      const principal = principalOf(translateClaims(claims, outside));
      if (principal) this.verified.noteTenant(token, principal.tenantId);
      return principal;
    }
    const principal = principalOf(claims);
    if (!principal) return null;
    this.verified.remember(token, principal, (claims as { exp: number }).exp);
    return this.subjects.confirm(principal);
  }
}

/** Each algorithm has its own keys: a token cannot have one taken for the other. */
function keyProvider({ key, local, outside }: JwtSettings): SecretOrKeyProvider {
  const published = outside && new JwksKeys(outside.jwksUri);
  const find = async (token: string): Promise<KeyObject | null> => {
    const header = headerOf(token);
    // RFC 7515, 4.1.11: an extension that must be understood, and none is here.
    if (header && 'crit' in header) return null;
    const algorithm = algorithmOf(token);
    if (algorithm === JWT_ALGORITHM) return local ? key : null;
    const id = header?.kid;
    return typeof id === 'string' && algorithm !== null
      ? ((await published?.find(id, algorithm)) ?? null)
      : null;
  };
  return (_, token: string, done) => {
    // jsonwebtoken takes a KeyObject; the types of passport-jwt do not know it yet.
    find(token).then(
      (found) => {
        done(
          found ? null : new Error('There is no key for this token.'),
          (found ?? undefined) as unknown as Buffer,
        );
      },
      (error: unknown) => {
        done(error);
      },
    );
  };
}

function algorithmOf(token: string): string | null {
  const algorithm = headerOf(token)?.alg;
  return typeof algorithm === 'string' ? algorithm : null;
}

function headerOf(token: string): { alg?: unknown; kid?: unknown } | null {
  try {
    const [header = ''] = token.split('.', 1);
    return JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg?: unknown; kid?: unknown } | null;
  } catch {
    return null;
  }
}
