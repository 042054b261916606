import { createHash, randomBytes, randomUUID, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { sign } from 'jsonwebtoken';
import { HttpErrors } from '../../errors/http.errors';
import type { Principal } from '../../tenancy/principal';
import { toRoles } from '../../tenancy/roles';
import type { AccountEntity, SessionEntity } from './account.entity';
import type { TokensDto } from './auth.dto';
import { Clock } from '../../time/clock';
import { ENV, type Env } from '../config/env';
import { JWT_ALGORITHM, jwtKey } from './jwt-key';

const ACCESS_SECONDS = 30 * 60;
const REFRESH_MS = 7 * 24 * 60 * 60 * 1000;
/** Of the subjects that are accounts here; for all others the issuer of the token vouches. */
const ACCOUNT_PREFIX = 'account:';

/** How tokens name an account of this service. */
export function accountSubject(userId: number): string {
  return `${ACCOUNT_PREFIX}${userId}`;
}

/** The account that a subject names, or null. */
export function accountOfSubject(subject: string): number | null {
  const digits = subject.startsWith(ACCOUNT_PREFIX) ? subject.slice(ACCOUNT_PREFIX.length) : '';
  return /^[1-9][0-9]{0,15}$/.test(digits) ? Number(digits) : null;
}

type Signing = Pick<Env, 'JWT_ISSUER' | 'JWT_AUDIENCE'> & { readonly key: KeyObject };

/** Signs an access token; `tokenId` begins with the id of its session, if there is one. */
export function signToken(
  { subject, tenantId, username, roles }: Omit<Principal, 'sessionId'>,
  { key, JWT_ISSUER: issuer, JWT_AUDIENCE: audience }: Signing,
  expiresIn: number,
  tokenId: string = randomUUID(),
): string {
  const options = { algorithm: JWT_ALGORITHM, subject, issuer, audience, expiresIn, jwtid: tokenId } as const;
  return sign({ tenantId, username, roles }, key, options);
}

/** Makes access tokens and refresh tokens. */
@Injectable()
export class TokenIssuer {
  readonly #signing: Signing;

  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly clock: Clock,
  ) {
    this.#signing = { ...env, key: jwtKey(env) };
  }

  /** With an outside identity provider alone, no one signs in here. */
  refuseWhenClosed(): void {
    if (this.env.LOCAL_ACCOUNTS === 'off') throw HttpErrors.NO_ROUTE();
  }

  begin(account: AccountEntity): { tokens: TokensDto; session: Omit<SessionEntity, 'endedAt'> } {
    const sessionId = randomUUID();
    const { tenantId, userId } = account;
    const { tokens, ...renewal } = this.renew(account, sessionId);
    return {
      tokens,
      session: { sessionId, tenantId, userId, scope: null, createdAt: this.clock.now(), ...renewal },
    };
  }

  renew(
    account: AccountEntity,
    sessionId: string,
  ): { tokens: TokensDto; refreshHash: string; expiresAt: Date } {
    const secret = randomBytes(32).toString('base64url');
    const { tenantId, username, roles, userId } = account;
    const principal = { subject: accountSubject(userId), tenantId, username, roles: toRoles(roles) };
    const tokenId = `${sessionId}.${randomBytes(6).toString('base64url')}`;
    const accessToken = signToken(principal, this.#signing, ACCESS_SECONDS, tokenId);
    return {
      tokens: {
        accessToken,
        tokenType: 'Bearer',
        expiresIn: ACCESS_SECONDS,
        refreshToken: `${sessionId}.${secret}`,
      },
      refreshHash: hashOf(secret),
      expiresAt: new Date(this.clock.now().getTime() + REFRESH_MS),
    };
  }

  isNewest({ refreshHash }: SessionEntity, secret: string): boolean {
    return timingSafeEqual(Buffer.from(refreshHash, 'hex'), Buffer.from(hashOf(secret), 'hex'));
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
