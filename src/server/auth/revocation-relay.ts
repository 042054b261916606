import { Inject, Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type * as Ioredis from 'ioredis';
import { DomainEvents } from '../../database/domain-events';
import { loadPart } from '../../errors/load-part';
import { TenantStateCache } from '../../tenant/tenant-state-cache';
import { TenantEvent } from '../../tenant/tenant.events';
import { ENV, type Env } from '../config/env';
import { onPrimary, tellPrimary, workerNumber } from '../workers/worker';
import { VerifiedTokens } from './verified-tokens';

const CHANNEL = 'tenantry:revoked';
const MESSAGE = /^(account|key|tenant) ([\x21-\x7e]{1,128})$/;
const OPTIONS = {
  enableOfflineQueue: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 1000,
  commandTimeout: 1000,
  retryStrategy: (times: number) => Math.min(100 * times, 1000),
};

/** What a replica must look up anew: an account by its subject, a key by its hash, or a tenant by its code. Nothing secret. */
interface Revocation {
  readonly kind: 'account' | 'key' | 'tenant';
  readonly key: string;
}

/** Null for what this version does not know: another version may send it. */
export function readRevocation(message: string): Revocation | null {
  const [, kind, key] = MESSAGE.exec(message) ?? [];
  return kind === undefined || key === undefined ? null : { kind: kind as Revocation['kind'], key };
}

/** Sends a message to other processes. */
type Publish = (message: string) => void;

/**
 * Publishes what was committed here, through Redis to other replicas and through the primary to other workers, so that they forget
 * what they remember of it, and forgets what they publish: what is revoked in one process is refused by the others at once. A message
 * that is lost costs at most five seconds: nothing is remembered for longer. One process without a Redis publishes nothing.
 */
@Injectable()
export class RevocationRelay implements OnModuleInit, OnModuleDestroy {
  readonly #logger = new Logger('Revocation');
  #connections: readonly Ioredis.Redis[] = [];
  #isAway = false;

  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly callers: VerifiedTokens,
    private readonly tenants: TenantStateCache,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    const ways = [this.#throughPrimary(), this.#throughRedis()].filter((way) => way !== null);
    if (ways.length === 0) return;
    const publish = (kind: Revocation['kind'], key: string): void => {
      for (const way of ways) way(`${kind} ${key}`);
    };
    this.callers.accounts.onForget((subject) => {
      publish('account', subject);
    });
    this.callers.keys.onForget((hash) => {
      publish('key', hash);
    });
    this.events.on(TenantEvent, ({ tenantId }) => {
      publish('tenant', tenantId);
    });
  }

  #throughPrimary(): Publish | null {
    if (workerNumber(this.env) === undefined) return null;
    onPrimary('revoked', this.#forget);
    return (message) => void tellPrimary('revoked', message);
  }

  #throughRedis(): Publish | null {
    const { REDIS_URL: url } = this.env;
    if (url === undefined) return null;
    const { Redis } = loadPart('REDIS_URL', ['ioredis'], () => require('ioredis') as typeof Ioredis);
    const [publisher, subscriber] = [new Redis(url, OPTIONS), new Redis(url, OPTIONS)];
    this.#connections = [publisher, subscriber];
    publisher.on('error', this.#warn);
    subscriber.on('error', this.#warn);
    subscriber.on('close', this.#warn);
    subscriber.on('message', (_: string, message: string) => {
      this.#forget(message);
    });
    subscriber.on('ready', () => {
      subscriber.subscribe(CHANNEL).then(this.#startOver, this.#warn);
    });
    return (message) => {
      publisher.publish(CHANNEL, message).catch(this.#warn);
    };
  }

  onModuleDestroy(): void {
    this.#isAway = true;
    for (const connection of this.#connections) connection.disconnect();
  }

  readonly #forget = (message: string): void => {
    const revocation = readRevocation(message);
    if (revocation?.kind === 'tenant') this.tenants.forget(revocation.key);
    if (revocation?.kind === 'account') this.callers.accounts.drop(revocation.key);
    if (revocation?.kind === 'key') this.callers.keys.drop(revocation.key);
  };

  /** Messages were missed while this replica was not subscribed. */
  readonly #startOver = (): void => {
    this.tenants.forgetAll();
    this.callers.accounts.dropAll();
    this.callers.keys.dropAll();
    if (this.#isAway) this.#logger.log('Redis is back: changes reach the other replicas at once');
    this.#isAway = false;
  };

  readonly #warn = (error?: unknown): void => {
    if (!this.#isAway)
      this.#logger.warn({ err: error }, 'Redis is away: changes reach the other replicas within 5 s');
    this.#isAway = true;
  };
}
