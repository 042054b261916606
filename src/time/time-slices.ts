import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Short: a request of another tenant needs several turns of the event loop, and each may wait for a slice of every long work. */
const SLICE_MS = 2;

/**
 * Cuts long work in this process into slices; between two of them the event loop serves others. In a loop:
 * `if (slices.isOver) await slices.next();`
 */
export class TimeSlices {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  async next(): Promise<void> {
    await yieldToEventLoop();
    this.#end = performance.now() + SLICE_MS;
  }
}
