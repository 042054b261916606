import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AuthErrors } from '../../tenancy/access.errors';
import { FactCache } from '../../tenancy/fact-cache';
import type { Principal } from '../../tenancy/principal';
import { Clock } from '../../time/clock';
import { grantedTo } from './grantee.entity';
import { keyIn } from './key-secret';
import { KeyUseRepository, type KnownKey } from './key-use.repository';
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
 * What callers are checked against, without a query per request. A change is seen at once in this process, and within five
 * seconds in others that Redis does not connect.
 */
abstract class CallerCache<T> {
  protected readonly facts = new FactCache<T | null>();
  #announce: (caller: string) => void = () => undefined;

  /** To be called after every committed change of a caller. */
  forget(caller: string): void {
    this.drop(caller);
    this.#announce(caller);
  }

  /** Forgets what another process has changed. */
  drop(caller: string): void {
    this.facts.delete(caller);
  }

  dropAll(): void {
    this.facts.clear();
  }

  /** Is called with every caller that was changed here. */
  onForget(announce: (caller: string) => void): void {
    this.#announce = announce;
  }
}

/**
 * Accounts by the subjects of tokens. A subject that is no account here is taken at the token's word. An account must be enabled,
 * in that tenant, and its session not ended; its roles are those it has now.
 */
@Injectable()
export class AccountStateCache extends CallerCache<AccountFacts> {
  /** What tokens say, with the facts that confirmed it last. */
  readonly #confirmed = new WeakMap<Principal, { facts: AccountFacts; confirmed: Principal }>();

  constructor(private readonly sessions: SessionRepository) {
    super();
    sessions.onEnd((userId) => {
      this.forget(accountSubject(userId));
    });
  }

  async confirm(principal: Principal): Promise<Principal | null> {
    const { subject, tenantId, sessionId = null } = principal;
    const userId = accountOfSubject(subject);
    if (userId === null) return principal;
    const find = () => this.sessions.findFacts(tenantId, userId, sessionId);
    // With the tenant: what was found for one must not vouch for a token that names another.
    const facts = await this.facts.lookUp(subject, find, `${tenantId}|${sessionId ?? ''}`);
    if (facts?.status !== '0' || facts.ended) return null;
    const before = this.#confirmed.get(principal);
    if (before?.facts === facts) return before.confirmed;
    const { username, deptId } = facts;
    const granted = grantedTo(facts, deptId);
    const { permissions } = principal;
    const limits = { ...granted, ...(permissions && { permissions }) };
    const confirmed = Object.freeze({ subject, tenantId, username, sessionId, ...limits });
    this.#confirmed.set(principal, { facts, confirmed });
    return confirmed;
  }
}

/** Keys by the hashes of their secrets. A key must be enabled, and not have ended by the clock. */
@Injectable()
export class KeyStateCache extends CallerCache<KnownKey> {
  constructor(
    private readonly keys: KeyUseRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async confirm(hash: string): Promise<Principal> {
    const key = await this.facts.lookUp(hash, () => this.keys.find(hash));
    const now = this.clock.now();
    if (!key || (key.endTime && key.endTime < now)) throw AuthErrors.KEY_INVALID();
    this.keys.noteUse(key, now);
    return key.principal;
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
 * keys may be withdrawn. Keys for machines have no signature: they are looked up.
 */
@Injectable()
export class VerifiedTokens {
  /** By the token, or by the hash of a key. */
  readonly #verified = new LRUCache<string, Verified>({ max: 10_000 });

  constructor(
    readonly accounts: AccountStateCache,
    readonly keys: KeyStateCache,
  ) {}

  /** To be called when signature, issuer, audience and times of a token have been verified. */
  remember(token: string, principal: Principal, trustedUntil: number): void {
    this.#verified.set(token, { principal, trustedUntil });
  }

  /** The tenant of a token or a key that was good once; not for decisions about access. */
  tenantOf(request: IncomingMessage): string | undefined {
    const key = keyIn(request);
    return this.#find(key ? key.hash : bearerToken(request))?.principal.tenantId;
  }

  /**
   * The caller, when the token is known and still good; null says nothing: the strategy has to look. A key that is not good is
   * refused here.
   */
  async recall(request: IncomingMessage): Promise<Principal | null> {
    const key = keyIn(request);
    if (key) return this.#recallKey(key.hash);
    const verified = this.#find(bearerToken(request));
    if (!verified || verified.trustedUntil <= Math.floor(Date.now() / 1000)) return null;
    return this.accounts.confirm(verified.principal);
  }

  async #recallKey(hash: string | null): Promise<Principal> {
    if (hash === null) throw AuthErrors.KEY_MISTYPED();
    const principal = await this.keys.confirm(hash);
    if (!this.#verified.has(hash)) this.remember(hash, principal, Infinity);
    return principal;
  }

  #find(token: string | null): Verified | undefined {
    return token === null ? undefined : this.#verified.get(token);
  }
}
