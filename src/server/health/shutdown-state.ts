import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

/** Whether a stop was requested: the service still serves for a moment, and tells clients to use another one. */
@Injectable()
export class ShutdownState implements BeforeApplicationShutdown {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;

  request(): void {
    this.#controller.abort();
  }

  beforeApplicationShutdown(): void {
    this.request();
  }
}
