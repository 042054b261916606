import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { bearerToken } from './bearer-token';
import type { Principal } from '../../tenancy/principal';
import { AccountStateCache } from './account-state-cache';

const MAX_TOKENS = 10_000;
const sent = Symbol('token');

interface Verified {
  readonly principal: Principal;
  /** In seconds, as the token says it. */
  readonly expiresAt: number;
}

/**
 * Tokens of this service that passport-jwt has verified: their signature need not be computed again. Nothing else is
 * taken as read: a token is dead in the second in which it expires, and its subject is held against the accounts at
 * every request. Tokens of an outside provider are not remembered, because their keys may be withdrawn.
 */
@Injectable()
export class VerifiedTokens {
  readonly #verified = new LRUCache<string, Verified>({ max: MAX_TOKENS });
  /** Of tokens that are not remembered: they have been good once, and prove nothing else. */
  readonly #tenants = new LRUCache<string, string>({ max: MAX_TOKENS });

  constructor(private readonly subjects: AccountStateCache) {}

  /** To be called with what the strategy has verified, signature, issuer, audience and times. */
  remember(token: string, principal: Principal, expiresAt: number): void {
    this.#verified.set(token, { principal, expiresAt });
  }

  /** To be called with a verified token that must be verified again each time. */
  noteTenant(token: string, tenantId: string): void {
    this.#tenants.set(token, tenantId);
  }

  /** Whose token it is, as far as one was verified before; nothing for a decision about access. */
  tenantOf(request: IncomingMessage): string | undefined {
    const token = tokenOf(request);
    if (token === null) return undefined;
    return this.#verified.get(token)?.principal.tenantId ?? this.#tenants.get(token);
  }

  /** Who sends a token that is known and still good; null says nothing: the strategy has to look. */
  async recall(request: IncomingMessage): Promise<Principal | null> {
    const token = tokenOf(request);
    const verified = token === null ? undefined : this.#verified.get(token);
    if (token === null || !verified) return null;
    if (verified.expiresAt > Math.floor(Date.now() / 1000)) return this.subjects.confirm(verified.principal);
    this.#verified.delete(token);
    return null;
  }
}

/** Looked for once per request: admission and the token check both ask. */
function tokenOf(request: IncomingMessage & { [sent]?: string | null }): string | null {
  return (request[sent] ??= bearerToken(request));
}
