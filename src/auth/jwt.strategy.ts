import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { principalOf, type Principal } from './principal';

export const JWT_STRATEGY = 'tenantry-jwt';
export const JWT_ALGORITHM = 'HS256';

/** Header and claims begin with `e`, as `{` does in base64: jsonwebtoken breaks on claims that are `null`. */
const BEARER = /^Bearer (e[\w-]+\.e[\w-]+\.[\w-]+)$/;

/** How tokens are signed and whom they must name. */
export abstract class JwtSettings {
  /** A KeyObject, not text: a text key is parsed again at every check, at 50 times the cost. */
  abstract readonly key: KeyObject;
  abstract readonly issuer: string;
  abstract readonly audience: string;
}

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, JWT_STRATEGY) {
  constructor({ key, issuer, audience }: JwtSettings) {
    // jsonwebtoken takes a KeyObject; the types of passport-jwt do not know it yet.
    const secretOrKey = key as unknown as Buffer;
    super({ jwtFromRequest: bearerToken, secretOrKey, algorithms: [JWT_ALGORITHM], issuer, audience });
  }

  validate(claims: unknown): Principal | null {
    return principalOf(claims);
  }
}

/** The token, when there is exactly one Authorization header and it is of the contract's form. */
function bearerToken({ rawHeaders, headers }: Request): string | null {
  const sent = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
  ).length;
  return sent === 1 ? (BEARER.exec(headers.authorization ?? '')?.[1] ?? null) : null;
}
