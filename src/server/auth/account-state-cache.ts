import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../tenancy/expiring-cache';
import { toRoles } from '../../tenancy/roles';
import type { Principal } from '../../tenancy/principal';
import { SessionRepository, type AccountFacts } from './session.repository';
import { accountOfSubject } from './subject';

const FRESH_MS = 5000;

type Forgotten = 'account' | 'session';
type OnForget = (kind: Forgotten, key: string) => void;

/**
 * Holds a token's subject against the accounts, without a query per request. A subject that is no account here is
 * taken at the token's word; one that is must be live, in that tenant, and not signed out, and its roles are those it
 * has now. What is remembered is at most five seconds old, and forgotten at once on the node that changes it; on the
 * others too, where they tell each other.
 */
@Injectable()
export class AccountStateCache {
  readonly #memory = new ExpiringCache<AccountFacts | null>(FRESH_MS);
  readonly #onForget: OnForget[] = [];

  constructor(private readonly sessions: SessionRepository) {
    sessions.onEnd((sessionId) => {
      this.#forgetHere('session', sessionId);
    });
  }

  /** At once, when what it needs is remembered. */
  confirm(principal: Principal): Principal | null | Promise<Principal | null> {
    const { subject, tenantId, sessionId = null } = principal;
    const userId = accountOfSubject(subject);
    if (userId === null) return principal;
    // With the tenant: what was found for one must not vouch for a token that names another.
    const key = `${subject}|${tenantId}|${sessionId ?? ''}`;
    const facts = this.#memory.get(key, () => this.sessions.findFacts(tenantId, userId, sessionId));
    return facts instanceof Promise
      ? facts.then((found) => asItIsNow(principal, found))
      : asItIsNow(principal, facts);
  }

  /** To be called after every committed change of an account. */
  forget(subject: string): void {
    this.#forgetHere('account', subject);
  }

  /** Forgets what another node has changed, and tells nobody. */
  drop(kind: Forgotten, key: string): void {
    this.#memory.forgetIf((each) =>
      kind === 'account' ? each.startsWith(`${key}|`) : each.endsWith(`|${key}`),
    );
  }

  forgetAll(): void {
    this.#memory.forgetIf(() => true);
  }

  /** Tells of every account and session that was changed here. */
  onForget(tell: OnForget): void {
    this.#onForget.push(tell);
  }

  #forgetHere(kind: Forgotten, key: string): void {
    this.drop(kind, key);
    for (const tell of this.#onForget) tell(kind, key);
  }
}

function asItIsNow(principal: Principal, facts: AccountFacts | null): Principal | null {
  if (facts?.status !== '0' || facts.ended) return null;
  const { subject, tenantId, sessionId = null } = principal;
  // Not spread: Node 20 takes ten times as long for it, and this is done for every request.
  const roles = Object.freeze(toRoles(facts.roles));
  return Object.freeze({ subject, tenantId, username: facts.username, roles, sessionId });
}
