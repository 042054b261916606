import { Injectable } from '@nestjs/common';

/** Whether the service has been asked to stop: it still serves for a moment, and says that others should now. */
@Injectable()
export class Stopping {
  #asked = false;
  readonly #listeners: (() => void)[] = [];

  get isAsked(): boolean {
    return this.#asked;
  }

  onAsked(listener: () => void): void {
    this.#listeners.push(listener);
  }

  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    for (const listener of this.#listeners) listener();
  }
}
