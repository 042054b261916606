import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { bearerToken } from './bearer-token';
import type { Principal } from './principal';
import { SubjectGate } from './subject-gate';

const MOST = 10_000;

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
  readonly #verified = new Map<string, Verified>();

  constructor(private readonly subjects: SubjectGate) {}

  /** To be called with what the strategy has verified, signature, issuer, audience and times. */
  remember(token: string, principal: Principal, expiresAt: number): void {
    if (this.#verified.size >= MOST) this.#forgetOldest();
    this.#verified.set(token, { principal, expiresAt });
  }

  /** Who sends a token that is known and still good; null says nothing: the strategy has to look. */
  recall(request: IncomingMessage): Principal | null | Promise<Principal | null> {
    const token = bearerToken(request);
    const verified = token === null ? undefined : this.#verified.get(token);
    if (token === null || !verified) return null;
    if (verified.expiresAt > Math.floor(Date.now() / 1000)) return this.subjects.confirm(verified.principal);
    this.#verified.delete(token);
    return null;
  }

  #forgetOldest(): void {
    const [oldest] = this.#verified.keys();
    if (oldest !== undefined) this.#verified.delete(oldest);
  }
}
