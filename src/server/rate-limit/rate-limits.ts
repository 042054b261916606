import { Logger, type OnModuleDestroy } from '@nestjs/common';
import type * as Ioredis from 'ioredis';
import type { Env } from '../config/env';
import {
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterAbstract,
  type RateLimiterRes,
} from 'rate-limiter-flexible';
import { loadPart } from '../../errors/load-part';
import { workerNumber } from '../workers/worker';

/** How long a request waits for Redis, or for the primary. */
const PATIENCE_MS = 250;

interface Limit {
  readonly keyPrefix: string;
  readonly points: number;
  /** In seconds. */
  readonly duration: number;
}

/** Counts in this process, or with the other workers of its primary. */
export function counterOf(limit: Limit, env: Pick<Env, 'WORKERS'>): RateLimiterAbstract {
  return workerNumber(env) === undefined ? new RateLimiterMemory(limit) : new CountingTogether(limit);
}

/** To be called in the primary, which keeps the counts. */
export function countForWorkers(): void {
  new RateLimiterClusterMaster();
}

/** Counts with the other workers; alone where the primary does not answer in time. */
class CountingTogether extends RateLimiterCluster {
  readonly #alone: RateLimiterMemory;

  constructor(limit: Limit) {
    super({ ...limit, timeoutMs: PATIENCE_MS });
    this.#alone = new RateLimiterMemory(limit);
  }

  override penalty(key: string | number): Promise<RateLimiterRes> {
    return super.penalty(key).catch(() => this.#alone.penalty(key));
  }
}

/**
 * The limiters, each with a window of a minute. With Redis all replicas count together; without it each counts alone, its workers
 * together.
 */
export class RateLimits implements OnModuleDestroy {
  readonly isOn: boolean;
  readonly ofAddress: RateLimiterAbstract;
  readonly ofAccount: RateLimiterAbstract;
  readonly ofUser: RateLimiterAbstract;
  readonly #redis: Ioredis.Redis | undefined;

  constructor(env: Env) {
    this.isOn = env.RATE_LIMIT === 'on';
    this.#redis = this.isOn && env.REDIS_URL !== undefined ? connect(env.REDIS_URL) : undefined;
    this.ofAddress = this.#limiter('address', env.RATE_LIMIT_LOGIN_ADDRESS, env);
    this.ofAccount = this.#limiter('account', env.RATE_LIMIT_LOGIN_ACCOUNT, env);
    this.ofUser = this.#limiter('user', env.RATE_LIMIT_USER, env);
  }

  onModuleDestroy(): void {
    this.#redis?.disconnect();
  }

  #limiter(name: string, points: number, env: Env): RateLimiterAbstract {
    const limit = { keyPrefix: `tenantry:rate:${name}`, points, duration: 60 };
    const counter = counterOf(limit, env);
    if (!this.#redis) return counter;
    return new RateLimiterRedis({
      ...limit,
      storeClient: this.#redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: counter,
    });
  }
}

/**
 * A Redis that hangs is disconnected after 250 ms. It is not asked again before it has answered the first question on a new
 * connection, so only requests of the first moment wait.
 */
function connect(url: string): Ioredis.Redis {
  const { Redis } = loadPart('REDIS_URL', ['ioredis'], () => require('ioredis') as typeof Ioredis);
  const logger = new Logger('RateLimit');
  let isAway = false;
  return new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    commandTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
    retryStrategy: (times) => Math.min(100 * times, 2000),
  })
    .on('ready', () => (isAway = false))
    .on('error', (error: Error) => {
      if (!isAway) logger.warn({ err: error }, 'Redis is away: limits are counted per replica');
      isAway = true;
    });
}
