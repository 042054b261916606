import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { fromMessage, toMessage, type Revocation } from './revocation';

const CHANNEL = 'tenantry:revoked';
const OPTIONS = {
  enableOfflineQueue: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 1000,
  commandTimeout: 1000,
  retryStrategy: (times: number) => Math.min(100 * times, 1000),
};

/** What is done with what the others say. */
export interface Listener {
  heard(revocation: Revocation): void;
  /** Messages may have been missed: until now nobody was listening. */
  missed(): void;
}

/** Carries revocations between replicas through Redis: at most once, in no time, and not at all while Redis is away. */
export class RevocationChannel {
  readonly #logger = new Logger('Revocation');
  readonly #speaker: Redis;
  readonly #ear: Redis;
  #away = false;

  constructor(url: string, listener: Listener) {
    this.#speaker = new Redis(url, OPTIONS);
    this.#ear = new Redis(url, OPTIONS);
    this.#speaker.on('error', this.#notice);
    this.#ear.on('error', this.#notice);
    this.#ear.on('close', this.#notice);
    this.#ear.on('message', (_: string, message: string) => {
      const revocation = fromMessage(message);
      if (revocation) listener.heard(revocation);
    });
    this.#ear.on('ready', () => {
      this.#ear.subscribe(CHANNEL).then(() => {
        // Only now: what is looked up from here on is watched.
        listener.missed();
        if (this.#away) this.#logger.log('Redis is back: changes reach the other replicas at once');
        this.#away = false;
      }, this.#notice);
    });
  }

  /** Nobody waits for it: whoever does not hear it finds out within five seconds. */
  say(revocation: Revocation): void {
    this.#speaker.publish(CHANNEL, toMessage(revocation)).catch(this.#notice);
  }

  close(): void {
    this.#away = true;
    this.#speaker.disconnect();
    this.#ear.disconnect();
  }

  readonly #notice = (error?: unknown): void => {
    if (!this.#away)
      this.#logger.warn({ err: error }, 'Redis is away: changes reach the other replicas within 5 s');
    this.#away = true;
  };
}
