import { Injectable } from '@nestjs/common';

/** Whether a stop was requested: the service still serves for a moment, and tells clients to use another one. */
@Injectable()
export class ShutdownState {
  #requested = false;
  readonly #listeners: (() => void)[] = [];

  get isRequested(): boolean {
    return this.#requested;
  }

  onRequested(listener: () => void): void {
    this.#listeners.push(listener);
  }

  request(): void {
    if (this.#requested) return;
    this.#requested = true;
    for (const listener of this.#listeners) listener();
  }
}
