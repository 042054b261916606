import { Logger, type OnModuleDestroy } from '@nestjs/common';
import type * as Ioredis from 'ioredis';
import type { Env } from '../config/env';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { loadPart } from '../../errors/load-part';

/** How long a request waits for Redis. */
const PATIENCE_MS = 250;

/** The limiters, each with a window of a minute. With Redis all replicas count together; without it each process counts alone. */
export class RateLimits implements OnModuleDestroy {
  readonly isOn: boolean;
  readonly ofAddress: RateLimiterAbstract;
  readonly ofAccount: RateLimiterAbstract;
  readonly ofUser: RateLimiterAbstract;
  readonly #redis: Ioredis.Redis | undefined;

  constructor(env: Env) {
    this.isOn = env.RATE_LIMIT === 'on';
    this.#redis = this.isOn && env.REDIS_URL !== undefined ? connect(env.REDIS_URL) : undefined;
    this.ofAddress = this.#limiter(env.RATE_LIMIT_LOGIN_ADDRESS);
    this.ofAccount = this.#limiter(env.RATE_LIMIT_LOGIN_ACCOUNT);
    this.ofUser = this.#limiter(env.RATE_LIMIT_USER);
  }

  onModuleDestroy(): void {
    this.#redis?.disconnect();
  }

  #limiter(points: number): RateLimiterAbstract {
    const limit = { keyPrefix: 'tenantry:rate', points, duration: 60 };
    const alone = new RateLimiterMemory(limit);
    if (!this.#redis) return alone;
    return new RateLimiterRedis({
      ...limit,
      storeClient: this.#redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: alone,
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
      if (!isAway) logger.warn({ err: error }, 'Redis is away: limits are counted per process');
      isAway = true;
    });
}
