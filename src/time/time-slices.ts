import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Short: a request of another tenant needs several turns of the event loop, and may wait for a slice in each. */
const SLICE_MS = 1;

/** Ends when the last work that waits may go on. */
let queue: Promise<void> = Promise.resolve();

/**
 * Cuts long work in this process into slices; between two of them the event loop serves others. Each turn
 * of the loop has one slice, however many works there are. In a loop: `if (slices.isOver) await slices.next();`
 */
export class TimeSlices {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  async next(): Promise<void> {
    queue = queue.then(() => yieldToEventLoop());
    await queue;
    this.#end = performance.now() + SLICE_MS;
  }
}
