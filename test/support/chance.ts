import { SEEDED } from './long-run';

/** A small generator of chance: the same seed always gives the same run, on every machine. */
export class Chance {
  #state: number;

  constructor(seed: string | number) {
    this.#state = hash(String(seed));
  }

  /** From 0 up to, not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  hit(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Another row of numbers that follows from this one. */
  fork(): Chance {
    return new Chance(this.below(2 ** 32));
  }

  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let last = copy.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      [copy[last], copy[other]] = [copy[other]!, copy[last]!];
    }
    return copy;
  }
}

/** The seed of this run: `FAULTS_SEED` repeats one that was printed. `npm test` always has the same. */
export function faultsSeed(what: string): number {
  const given = process.env.FAULTS_SEED;
  if (given === undefined && SEEDED.seed !== undefined) return SEEDED.seed;
  const seed = given === undefined ? Math.floor(Math.random() * 1e9) : Number(given);
  process.stderr.write(`${what}: FAULTS_SEED=${seed}\n`);
  return seed;
}

/** FNV-1a. */
function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (const character of text) mixed = Math.imul(mixed ^ character.codePointAt(0)!, 0x01000193);
  return mixed;
}
