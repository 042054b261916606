import { KeyObject } from 'node:crypto';
import type * as Jose from 'jose';
import { loadPart } from '../../errors/load-part';
import { isTexts } from '../../tenancy/principal';
import type { Env } from '../config/env';

/** The algorithms that an outside identity provider may use. */
export const OUTSIDE_ALGORITHMS = ['RS256', 'ES256'] as const;

/** Keys are fetched again this often, so that a withdrawn one is dead within twice the time. */
const REFRESH_MS = 30_000;
/** How long known keys are good while the provider does not answer. */
const OUTAGE_MS = 10 * 60 * 1000;

/**
 * The public keys of an outside identity provider. jose fetches and selects them. When to fetch is decided here: jose would
 * ask a provider that is away for every token, and would not ask for a new key within its cool-down.
 */
export class JwksKeys {
  readonly #keys: ReturnType<typeof Jose.createRemoteJWKSet>;
  #fetchedAt = -Infinity;
  #fetchedForUnknownAt = -Infinity;

  constructor(uri: string) {
    // Loaded only where it is used: jose is an ES module, which Jest does not load without settings in the host.
    const { createRemoteJWKSet } = loadPart('JWT_JWKS_URI', ['jose'], () => require('jose') as typeof Jose);
    this.#keys = createRemoteJWKSet(new URL(uri), {
      cacheMaxAge: OUTAGE_MS,
      cooldownDuration: Infinity,
      timeoutDuration: 5000,
    });
  }

  /** The published key of this id, if it is for this algorithm. */
  async find(kid: string, alg: string): Promise<KeyObject | null> {
    const isDue = isLongAgo(this.#fetchedAt);
    if (isDue) this.#fetchedAt = Date.now();
    await this.#fetch(isDue);
    const found = await this.#select(kid, alg);
    if (found) return found;
    // Anyone can make up key ids: the provider is asked for unknown ones at most once in a while.
    const mayAsk = isLongAgo(this.#fetchedForUnknownAt);
    if (mayAsk) this.#fetchedForUnknownAt = Date.now();
    await this.#fetch(mayAsk);
    return this.#select(kid, alg);
  }

  /** Starts to fetch if it should, and waits for what is under way. A failure changes nothing. */
  async #fetch(start: boolean): Promise<void> {
    if (start || this.#keys.reloading) await this.#keys.reload().catch(() => undefined);
  }

  async #select(kid: string, alg: string): Promise<KeyObject | null> {
    if (!this.#keys.fresh) return null;
    try {
      return KeyObject.from(await this.#keys({ kid, alg }));
    } catch {
      return null;
    }
  }
}

/** A clock that was set back counts too, or nothing would be fetched until it has caught up. */
function isLongAgo(time: number): boolean {
  return Math.abs(Date.now() - time) >= REFRESH_MS;
}

/** The claims of an outside token under the names that ours have. Its subject can never be an account here. */
export function translateClaims(claims: unknown, env: Env): Record<string, unknown> {
  const own = (claims ?? {}) as Record<string, unknown>;
  return {
    sub: typeof own.sub === 'string' && own.sub !== '' ? `outside:${own.sub}` : undefined,
    iat: own.iat,
    exp: own.exp,
    tenantId: claimAt(own, env.JWT_TENANT_CLAIM),
    roles: claimAt(own, env.JWT_ROLES_CLAIM),
    username: claimAt(own, env.JWT_USERNAME_CLAIM),
    scope: permissionsIn(claimAt(own, env.JWT_SCOPE_CLAIM)),
    managedDeptIds: own.managedDeptIds,
    dataScope: own.dataScope,
  };
}

/** What OpenID Connect itself asks for, which says nothing about this service. */
const OF_OPENID = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'];

/** A text, or a list as some providers have it. One that has nothing but names of OpenID Connect limits nothing. */
function permissionsIn(claim: unknown): unknown {
  const text: unknown = isTexts(claim) ? claim.join(' ') : claim;
  if (typeof text !== 'string') return text;
  const names = text.split(' ').filter(Boolean);
  const own = names.filter((name) => !OF_OPENID.includes(name));
  return own.length === 0 && names.length > 0 ? undefined : own.join(' ');
}

/** A dot in the path goes into an object. */
function claimAt(claims: unknown, path: string): unknown {
  let value = claims;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
