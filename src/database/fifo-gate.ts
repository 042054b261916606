/** Leaves the gate; calling it more than once does nothing. */
export type Leave = () => void;

/** Lets one holder in at a time, in the order of arrival. */
export class FifoGate {
  #last: Promise<void> = Promise.resolve();

  async enter(): Promise<Leave> {
    const before = this.#last;
    let leave: Leave = () => undefined;
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
