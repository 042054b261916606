import { Module, type DynamicModule } from '@nestjs/common';
import { MemoryCounter, RateCounter } from './rate-counter';
import { RateLimiter, RateLimits } from './rate-limiter';
import { RedisCounter } from './redis-counter';

/** Limits of the standalone service; a host has its own. */
@Module({})
export class LimitsModule {
  static with(limits: RateLimits, redisUrl: string | undefined): DynamicModule {
    const counter = redisUrl === undefined ? new MemoryCounter() : new RedisCounter(redisUrl);
    return {
      module: LimitsModule,
      providers: [
        { provide: RateLimits, useValue: limits },
        { provide: RateCounter, useValue: counter },
        RateLimiter,
      ],
      exports: [RateLimits, RateLimiter],
    };
  }
}
