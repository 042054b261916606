import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { JWT_ALGORITHM, JwtSettings } from './jwt-settings';
import { principalOf, type Principal } from './principal';
import { SubjectGate } from './subject-gate';

export const JWT_STRATEGY = 'tenantry-jwt';

/** Header and claims begin with `e`, as `{` does in base64: jsonwebtoken breaks on claims that are `null`. */
const BEARER = /^Bearer (e[\w-]+\.e[\w-]+\.[\w-]+)$/;

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, JWT_STRATEGY) {
  constructor(
    { key, issuer, audience }: JwtSettings,
    private readonly subjects: SubjectGate,
  ) {
    // jsonwebtoken takes a KeyObject; the types of passport-jwt do not know it yet.
    const secretOrKey = key as unknown as Buffer;
    super({ jwtFromRequest: bearerToken, secretOrKey, algorithms: [JWT_ALGORITHM], issuer, audience });
  }

  async validate(claims: unknown): Promise<Principal | null> {
    const principal = principalOf(claims);
    return principal && this.subjects.confirm(principal, principal.sessionId ?? null);
  }
}

/** The token, when there is exactly one Authorization header and it is of the contract's form. */
function bearerToken({ rawHeaders, headers }: Request): string | null {
  const sent = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
  ).length;
  return sent === 1 ? (BEARER.exec(headers.authorization ?? '')?.[1] ?? null) : null;
}
