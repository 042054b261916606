/** What one turn of the event loop has for statements; the last of them may take longer. */
const TURN_MS = 2;

/**
 * SQLite's statements run on the main thread. Only a few of them run in one turn of the event loop, the others in the next ones,
 * in the order of arrival: however many long reads there are, between two turns the loop serves everybody else.
 */
export class StatementTurns {
  readonly #waiting: (() => void)[] = [];
  /** When this turn has no more time for statements; 0 before its first. */
  #end = 0;

  /** Runs a statement: at once, or in the turn that has time for it. */
  run<T>(statement: () => T): T | Promise<T> {
    if (this.#hasTime()) return statement();
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        // In a promise of its own: what the statement throws is for its caller.
        resolve(
          new Promise((done) => {
            done(statement());
          }),
        );
      });
    });
  }

  /** Waits for the turn of a statement that is run elsewhere, right after this. */
  async enter(): Promise<void> {
    if (this.#hasTime()) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        // How long it takes is not known here: it has the rest of the turn.
        this.#end = performance.now();
        resolve();
      });
    });
  }

  #hasTime(): boolean {
    if (this.#end === 0) this.#begin();
    return this.#waiting.length === 0 && performance.now() < this.#end;
  }

  #begin(): void {
    this.#end = performance.now() + TURN_MS;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#end = 0;
    if (this.#waiting.length > 0) this.#begin();
    while (this.#waiting.length > 0 && performance.now() < this.#end) this.#waiting.shift()?.();
  };
}
