import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** The algorithms that an outside identity provider may use. */
export const OUTSIDE_ALGORITHMS = ['RS256', 'ES256'] as const;
type OutsideAlgorithm = (typeof OUTSIDE_ALGORITHMS)[number];

interface PublishedKey {
  readonly algorithm: OutsideAlgorithm;
  readonly key: KeyObject;
}

/** Keys older than this are asked for anew, so that one that was withdrawn is dead within twice the time. */
const FRESH_MS = 30_000;
/** An unknown key is asked for at most this often: anybody can make up key ids. */
const UNKNOWN_EVERY_MS = 30_000;
/** How long known keys are good while the provider does not answer. */
const OUTAGE_MS = 10 * 60 * 1000;
const PATIENCE_MS = 5000;

/** The public keys of an outside identity provider, by their ids. */
export class JwksKeys {
  #keys: ReadonlyMap<string, PublishedKey> = new Map();
  #loadedAt = -Infinity;
  #triedAt = -Infinity;
  #askedForUnknownAt = -Infinity;
  #loading: Promise<void> | undefined;

  constructor(
    private readonly uri: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The key of this id, if it is published and made for this algorithm. */
  async find(id: string, algorithm: string): Promise<KeyObject | null> {
    await this.#refresh();
    if (!this.#keys.has(id) && this.now() - this.#askedForUnknownAt >= UNKNOWN_EVERY_MS) {
      this.#askedForUnknownAt = this.now();
      await this.#load();
    } else if (!this.#keys.has(id)) await this.#loading;
    const found = this.#keys.get(id);
    return found?.algorithm === algorithm ? found.key : null;
  }

  /** Waits for new keys only when the old ones can no longer be trusted. */
  async #refresh(): Promise<void> {
    const age = this.now() - this.#loadedAt;
    if (age < FRESH_MS) return;
    if (age > OUTAGE_MS) this.#keys = new Map();
    const resting = this.now() - this.#triedAt < FRESH_MS && this.#loading === undefined;
    const loading = resting ? undefined : this.#load();
    if (age > 1.5 * FRESH_MS) await loading;
  }

  #load(): Promise<void> {
    this.#triedAt = this.now();
    this.#loading ??= this.#fetch().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** A provider that does not answer, or answers nonsense, changes nothing. */
  async #fetch(): Promise<void> {
    try {
      const response = await fetch(this.uri, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' });
      if (!response.ok) return;
      this.#keys = keysOf(await response.json());
      this.#loadedAt = this.now();
    } catch {
      return;
    }
  }
}

function keysOf(set: unknown): Map<string, PublishedKey> {
  const { keys } = set as { keys: (JsonWebKey & { kid?: unknown; use?: unknown; alg?: unknown })[] };
  const entries = keys.flatMap((jwk): [string, PublishedKey][] => {
    const algorithm = algorithmOf(jwk);
    if (algorithm === null || typeof jwk.kid !== 'string' || (jwk.use ?? 'sig') !== 'sig') return [];
    const key = readKey(jwk);
    return key ? [[jwk.kid, { algorithm, key }]] : [];
  });
  return new Map(entries);
}

/** One key that cannot be read must not cost the others. */
function readKey(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null;
  }
}

/** The one algorithm that a key is for; what the token says is held against it, never believed. */
function algorithmOf({ kty, crv, alg }: JsonWebKey & { alg?: unknown }): OutsideAlgorithm | null {
  const natural = kty === 'RSA' ? 'RS256' : kty === 'EC' && crv === 'P-256' ? 'ES256' : null;
  return natural !== null && (alg ?? natural) === natural ? natural : null;
}
