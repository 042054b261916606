import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { HttpErrors } from '../../errors/http.errors';
import { Clock } from '../../time/clock';
import type { AccountEntity, SessionEntity } from '../../tenant/account.entity';
import { toRoles } from '../../tenancy/roles';
import { JwtSettings } from './jwt-settings';
import { signToken } from './sign-token';
import { accountSubject } from './subject';

export const ACCESS_SECONDS = 30 * 60;
const REFRESH_MS = 7 * 24 * 60 * 60 * 1000;

/** What a sign-in gives. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Makes access tokens and refresh tokens. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly settings: JwtSettings,
    private readonly clock: Clock,
  ) {}

  /** With an outside identity provider alone, nobody signs in here. */
  refuseWhenClosed(): void {
    if (!this.settings.local) throw HttpErrors.NO_ROUTE();
  }

  begin(account: AccountEntity): { tokens: Tokens; session: Omit<SessionEntity, 'endedAt'> } {
    const sessionId = randomUUID();
    const { tokens, refreshHash, expiresAt } = this.renew(account, sessionId);
    const { tenantId, userId } = account;
    return {
      tokens,
      session: { sessionId, tenantId, userId, refreshHash, expiresAt, createdAt: this.clock.now() },
    };
  }

  renew(account: AccountEntity, sessionId: string): { tokens: Tokens; refreshHash: string; expiresAt: Date } {
    const secret = randomBytes(32).toString('base64url');
    const { tenantId, username, roles, userId } = account;
    const principal = { subject: accountSubject(userId), tenantId, username, roles: toRoles(roles) };
    const tokenId = `${sessionId}.${randomBytes(6).toString('base64url')}`;
    return {
      tokens: {
        accessToken: signToken(principal, this.settings, ACCESS_SECONDS, tokenId),
        refreshToken: `${sessionId}.${secret}`,
      },
      refreshHash: hashOf(secret),
      expiresAt: new Date(this.clock.now().getTime() + REFRESH_MS),
    };
  }

  isExpired(session: SessionEntity): boolean {
    return session.expiresAt <= this.clock.now();
  }
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}
