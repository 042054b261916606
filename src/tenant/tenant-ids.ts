import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../time/clock';
import { IdBlockRepository } from './id-block.repository';
import { EPOCH, SnowflakeMint, WORKERS } from './snowflake';

/** How long a block lasts. What a process that ends has not used of it is never used. */
const BLOCK_MS = 10 * 60 * 1000;
/** After so many workers that are ahead of the clock, one of them it is: its block begins in the future. */
const PATIENCE = 20;

/**
 * Ids for new tenants, unique over all processes on one database. A process reserves a stretch of time of one
 * worker number in the database and makes ids of it in memory; since no stretch is ever given away twice, neither a
 * restart nor a clock that steps back nor a process that froze can repeat an id.
 */
@Injectable()
export class TenantIds {
  #mint: SnowflakeMint | undefined;
  #reserving: Promise<SnowflakeMint> | undefined;

  constructor(
    private readonly blocks: IdBlockRepository,
    private readonly clock: Clock,
  ) {}

  async next(): Promise<string> {
    for (;;) {
      const id = this.#mint?.next(this.clock.now().getTime());
      if (id) return id;
      // Whoever comes while a block is being reserved waits for the same one.
      this.#reserving ??= this.#reserve().finally(() => (this.#reserving = undefined));
      this.#mint = await this.#reserving;
    }
  }

  async #reserve(): Promise<SnowflakeMint> {
    for (let tries = 0; ; tries += 1) {
      const worker = randomInt(WORKERS);
      const now = this.clock.now().getTime();
      const given = await this.blocks.findReservedUntil(worker);
      if (given >= now && tries < PATIENCE) continue;
      // A clock that was never set is no reason for ids below zero.
      const from = Math.max(now, given + 1, EPOCH);
      const until = from + BLOCK_MS - 1;
      if (await this.blocks.extend(worker, given, until)) return new SnowflakeMint({ worker, from, until });
    }
  }
}
