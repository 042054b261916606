import { setTimeout as sleep } from 'node:timers/promises';

/** How many milliseconds to wait after an error before the next try; null to give up. */
export type WaitAfter = (error: unknown) => number | null;

/** Does the work until it succeeds; fails with the last error when it is given up. */
export async function retry<T>(work: () => T | Promise<T>, waitAfter: WaitAfter): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const wait = waitAfter(error);
      if (wait === null) throw error;
      await sleep(wait);
    }
  }
}

/** Tries at an even pace, for some time from now, after errors that are worth it. */
export function evenly(everyMs: number, forMs: number, isWorthIt: (error: unknown) => boolean): WaitAfter {
  const giveUp = Date.now() + forMs;
  return (error) => (isWorthIt(error) && Date.now() <= giveUp ? everyMs : null);
}

/** Exponential backoff: a wait that grows with every failed try, with jitter, so that those who collided do not meet again. */
export function backoff(tries: number, { first, most, factor = 2 }: Backoff): number {
  return Math.min(first * factor ** (tries - 1), most) * (0.5 + Math.random() / 2);
}

/** The first and the longest wait in milliseconds. */
export interface Backoff {
  readonly first: number;
  readonly most: number;
  /** By how much each wait is longer than the one before. Default 2. */
  readonly factor?: number;
}
