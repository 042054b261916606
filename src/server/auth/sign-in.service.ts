import { Injectable } from '@nestjs/common';
import { TenantAdmission } from '../../tenancy/tenant-access';
import { SignInErrors } from './auth.errors';
import { Passwords, type Proof } from './passwords';
import { SessionRepository } from './session.repository';
import { hashOf, isSameHash, TokenIssuer, type Tokens } from './token-issuer';

/** The rules of signing in and staying in. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly passwords: Passwords,
    private readonly tenants: TenantAdmission,
    private readonly issuer: TokenIssuer,
  ) {}

  /** Wrong tenant, user or password, disabled and locked accounts: the same answer after the same time. */
  async login(proof: Proof): Promise<Tokens> {
    this.issuer.refuseWhenClosed();
    const { tenantId, username } = proof;
    const account = await this.passwords.check(proof, () => this.sessions.findEnabled(tenantId, username));
    if (!account) throw SignInErrors.BAD_CREDENTIALS();
    await this.tenants.admit(tenantId);
    const { tokens, session } = this.issuer.begin(account);
    await this.sessions.begin(account, session);
    return tokens;
  }

  /** Gives new tokens for a refresh token; one that was used before ends its whole family. */
  async refresh(refreshToken: string): Promise<Tokens> {
    this.issuer.refuseWhenClosed();
    const [sessionId = '', secret = ''] = refreshToken.split('.', 2);
    const session = await this.sessions.find(sessionId);
    if (!session || session.endedAt || this.issuer.isExpired(session)) throw SignInErrors.REFRESH_INVALID();
    const account = await this.sessions.findAccountById(session.tenantId, session.userId);
    if (account?.status !== '0') throw SignInErrors.REFRESH_INVALID();
    await this.tenants.admit(session.tenantId);
    const { tokens, refreshHash, expiresAt } = this.issuer.renew(account, sessionId);
    const newest = isSameHash(session.refreshHash, hashOf(secret));
    if (!newest || !(await this.sessions.rotate(session, refreshHash, expiresAt))) {
      await this.sessions.end(session);
      throw SignInErrors.REFRESH_INVALID();
    }
    return tokens;
  }
}
