import { Clock } from '../../src/time/clock';

/** A clock that a test holds in its hand. */
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
