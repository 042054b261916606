import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { Redis } from 'ioredis';
import { MemoryCounter, RateCounter, type Count } from './rate-counter';

/** How long a request waits for Redis. */
const PATIENCE_MS = 250;

const SCRIPT = `
local hits = redis.call('INCR', KEYS[1])
if hits == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { hits, redis.call('PTTL', KEYS[1]) }`;

/** Counts together with the other replicas; while Redis is away, this process counts alone: nothing opens or closes. */
export class RedisCounter extends RateCounter implements OnModuleDestroy {
  readonly #logger = new Logger('RateLimit');
  readonly #alone = new MemoryCounter();
  readonly #redis: Redis;
  #away = false;

  constructor(url: string) {
    super();
    this.#redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 1000,
      commandTimeout: PATIENCE_MS,
      // A Redis that hangs is disconnected. From then on commands fail at once and this process counts alone, until Redis
      // has answered the first question on a new connection: only requests of the first moment wait.
      socketTimeout: PATIENCE_MS,
      retryStrategy: (times) => Math.min(100 * times, 2000),
    });
    this.#redis.on('error', (error: Error) => {
      this.#notice(error);
    });
  }

  override async hit(key: string, windowMs: number): Promise<Count> {
    try {
      const [hits, endsIn] = (await this.#redis.eval(SCRIPT, 1, `tenantry:rate:${key}`, windowMs)) as [
        number,
        number,
      ];
      this.#away = false;
      return { hits, endsIn: Math.max(endsIn, 0) };
    } catch (error) {
      this.#notice(error);
      return this.#alone.hit(key, windowMs);
    }
  }

  onModuleDestroy(): void {
    this.#redis.disconnect();
  }

  #notice(error: unknown): void {
    if (!this.#away) this.#logger.warn({ err: error }, 'Redis is away: limits are counted per process');
    this.#away = true;
  }
}
