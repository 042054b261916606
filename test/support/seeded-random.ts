/** Random numbers that can be had again: `FAULTS_SEED` sets where they begin, and the run prints where they began. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Named in the output, so that a run that failed can be repeated. */
  static announced(name: string): SeededRandom {
    const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 32));
    process.stderr.write(`${name}: FAULTS_SEED=${seed}\n`);
    return new SeededRandom(seed);
  }

  /** From 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, this one. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }

  /** Another row of numbers that follows from this one. */
  fork(): SeededRandom {
    return new SeededRandom(this.below(2 ** 32));
  }
}
