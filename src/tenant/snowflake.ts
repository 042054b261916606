/** Snowflake ids: 41 bits of milliseconds since EPOCH, 10 bits of worker, 12 bits of sequence. Pure. */

export const WORKERS = 1024;
const SEQUENCES = 4096;
export const EPOCH = Date.UTC(2024, 0, 1);

/** The milliseconds of one worker that somebody alone may make ids of, both ends included. */
export interface IdBlock {
  readonly worker: number;
  readonly from: number;
  readonly until: number;
}

/**
 * Makes the ids of one block. Time only ever goes forward here: when the clock stands still or steps back, the
 * sequence goes on and then borrows the next millisecond, up to the block's end.
 */
export class SnowflakeMint {
  #millisecond: number;
  #sequence = -1;

  constructor(private readonly block: IdBlock) {
    this.#millisecond = block.from;
  }

  /** The next id, or null when the block is used up. */
  next(now: number): string | null {
    if (now > this.#millisecond) this.#goTo(now);
    else if (this.#sequence === SEQUENCES - 1) this.#goTo(this.#millisecond + 1);
    if (this.#millisecond > this.block.until) return null;
    this.#sequence += 1;
    const time = BigInt(this.#millisecond - EPOCH);
    return ((time << 22n) | (BigInt(this.block.worker) << 12n) | BigInt(this.#sequence)).toString();
  }

  #goTo(millisecond: number): void {
    this.#millisecond = millisecond;
    this.#sequence = -1;
  }
}
