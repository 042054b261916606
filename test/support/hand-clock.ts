import { Clock } from '../../src/time/clock';

export class HandClock extends Clock {
  #offset = 0;

  override now(): Date {
    return new Date(Date.now() + this.#offset);
  }

  set(instant: string): void {
    this.#offset = new Date(instant).getTime() - Date.now();
  }

  pass(milliseconds: number): void {
    this.#offset += milliseconds;
  }
}

/** `Date.now()`, by which tokens and rate limits are judged, is so much later until `mockRestore` is called. */
export function jumpAhead(milliseconds: number): jest.SpyInstance {
  const now = Date.now.bind(Date);
  return jest.spyOn(Date, 'now').mockImplementation(() => now() + milliseconds);
}

/** `performance.now()`, by which caches and limits measure how old something is. It stands still until `pass` is called. */
export class HeldTime {
  #now = performance.now();
  readonly #spy = jest.spyOn(performance, 'now').mockImplementation(() => this.#now);

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  release(): void {
    this.#spy.mockRestore();
  }
}
