import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { FactCache } from '../../tenancy/fact-cache';
import type { Principal } from '../../tenancy/principal';
import { grantedTo } from './grantee.entity';
import { SessionRepository, type AccountFacts } from './session.repository';
import { accountOfSubject, accountSubject } from './token-issuer';

/**
 * Schemes are case-insensitive (RFC 9110, 11.1). Header and claims begin with `e`, as `{` does in base64: jsonwebtoken
 * breaks on claims that are `null`.
 */
const BEARER = /^[Bb][Ee][Aa][Rr][Ee][Rr] (e[\w-]+\.e[\w-]+\.[\w-]+)$/;

/** The token, when there is exactly one Authorization header and it is of the contract's form. */
export function bearerToken({ headersDistinct }: IncomingMessage): string | null {
  const [header = '', ...more] = headersDistinct.authorization ?? [];
  return more.length > 0 ? null : (BEARER.exec(header)?.[1] ?? null);
}

/**
 * Checks a token's subject against the accounts, without a query per request. A subject that is no account here is
 * taken at the token's word. An account must be enabled, in that tenant, and its session not ended; its roles are those
 * it has now. A change is seen at once in this process, and within five seconds in others that Redis does not connect.
 */
@Injectable()
export class AccountStateCache {
  readonly #facts = new FactCache<AccountFacts | null>();
  #announce: (subject: string) => void = () => undefined;

  constructor(private readonly sessions: SessionRepository) {
    sessions.onEnd((userId) => {
      this.forget(accountSubject(userId));
    });
  }

  async confirm(principal: Principal): Promise<Principal | null> {
    const { subject, tenantId, sessionId = null } = principal;
    const userId = accountOfSubject(subject);
    if (userId === null) return principal;
    // With the tenant: what was found for one must not vouch for a token that names another.
    const key = `${subject}|${tenantId}|${sessionId ?? ''}`;
    const facts = await this.#facts.lookUp(key, () => this.sessions.findFacts(tenantId, userId, sessionId));
    if (facts?.status !== '0' || facts.ended) return null;
    const { username, deptId } = facts;
    const granted = grantedTo(facts, deptId);
    const { permissions } = principal;
    const limits = { ...granted, ...(permissions && { permissions }) };
    return Object.freeze({ subject, tenantId, username, sessionId, ...limits });
  }

  /** To be called after every committed change of an account or its sessions. */
  forget(subject: string): void {
    this.drop(subject);
    this.#announce(subject);
  }

  /** Forgets what another process has changed. */
  drop(subject: string): void {
    for (const key of [...this.#facts.keys()]) if (key.startsWith(`${subject}|`)) this.#facts.delete(key);
  }

  dropAll(): void {
    this.#facts.clear();
  }

  /** Is called with the subject of every account that was changed here. */
  onForget(announce: (subject: string) => void): void {
    this.#announce = announce;
  }
}

interface Verified {
  readonly principal: Principal;
  /** In seconds, as tokens say it. */
  readonly trustedUntil: number;
}

/**
 * Tokens that passport-jwt has verified: the signature of one of this service need not be computed again until it
 * expires. Its account is checked at every request. Tokens of an outside provider are verified each time, because its
 * keys may be withdrawn.
 */
@Injectable()
export class VerifiedTokens {
  readonly #verified = new LRUCache<string, Verified>({ max: 10_000 });

  constructor(private readonly accounts: AccountStateCache) {}

  /** To be called when signature, issuer, audience and times of a token have been verified. */
  remember(token: string, principal: Principal, trustedUntil: number): void {
    this.#verified.set(token, { principal, trustedUntil });
  }

  /** The tenant of a token that was good once; not for decisions about access. */
  tenantOf(request: IncomingMessage): string | undefined {
    return this.#find(request)?.principal.tenantId;
  }

  /** The caller, when the token is known and still good; null says nothing: the strategy has to look. */
  async recall(request: IncomingMessage): Promise<Principal | null> {
    const verified = this.#find(request);
    if (!verified || verified.trustedUntil <= Math.floor(Date.now() / 1000)) return null;
    return this.accounts.confirm(verified.principal);
  }

  #find(request: IncomingMessage): Verified | undefined {
    const token = bearerToken(request);
    return token === null ? undefined : this.#verified.get(token);
  }
}
