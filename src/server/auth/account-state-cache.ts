import { Injectable } from '@nestjs/common';
import { FactCache } from '../../tenancy/fact-cache';
import { toRoles } from '../../tenancy/roles';
import type { Principal } from '../../tenancy/principal';
import { SessionRepository, type AccountFacts } from './session.repository';
import { accountOfSubject, accountSubject } from './subject';

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
    const roles = Object.freeze(toRoles(facts.roles));
    return Object.freeze({ subject, tenantId, username: facts.username, roles, sessionId });
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
