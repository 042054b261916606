import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Short, so that several works at once still leave turns of a few milliseconds. */
const SLICE_MS = 3;

/** Cuts long work in this process into slices; between two of them the event loop serves others. */
export class TimeSlices {
  #end = performance.now() + SLICE_MS;

  /** The same items; when a slice is over, the next item waits for the next turn of the event loop. */
  async *over<T>(items: Iterable<T>): AsyncGenerator<T, void> {
    for (const item of items) {
      if (performance.now() >= this.#end) {
        await yieldToEventLoop();
        this.#end = performance.now() + SLICE_MS;
      }
      yield item;
    }
  }
}
