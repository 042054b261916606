import { Module, type DynamicModule } from '@nestjs/common';
import { MemoryCounter, RateCounter } from './rate-counter';
import { RateLimiter, RateLimits } from './rate-limiter';
import type * as RedisCounterFile from './redis-counter';

/** Limits of the standalone service; a host has its own. */
@Module({})
export class LimitsModule {
  static with(limits: RateLimits, redisUrl: string | undefined): DynamicModule {
    const counter = redisUrl === undefined ? new MemoryCounter() : counterOn(redisUrl);
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

/** Loads the client of Redis only for who has one. */
function counterOn(redisUrl: string): RateCounter {
  const { RedisCounter } = require('./redis-counter') as typeof RedisCounterFile;
  return new RedisCounter(redisUrl);
}
