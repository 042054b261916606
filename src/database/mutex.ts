/** Leaves the mutex; calling it more than once does nothing. */
export type Leave = () => void;

/** How long to wait for a turn, and what to say when it does not come. */
export interface Patience {
  readonly ms: number;
  readonly refusal: () => Error;
}

/** Lets one holder in at a time, in the order of arrival. */
export class Mutex {
  /** The turn of who came last; null while nobody is here. */
  #last: Promise<void> | null = null;
  #present = 0;

  /** One, while somebody holds it. */
  get inside(): number {
    return Math.min(this.#present, 1);
  }

  get waiting(): number {
    return this.#present - this.inside;
  }

  async enter(patience?: Patience): Promise<Leave> {
    const before = this.#last;
    let end: Leave = () => undefined;
    const own = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = own;
    this.#present += 1;
    let isGone = false;
    const leave = (): void => {
      if (isGone) return;
      isGone = true;
      this.#present -= 1;
      if (this.#last === own) this.#last = null;
      end();
    };
    // Where nobody is, nobody is waited for: most enter without a timer.
    if (before) await (patience ? orGiveUp(before, leave, patience) : before);
    return leave;
  }

  async run<T>(work: () => Promise<T>, patience?: Patience): Promise<T> {
    const leave = await this.enter(patience);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}

/** Who has waited in vain passes its turn on when it comes. */
async function orGiveUp(turn: Promise<void>, leave: Leave, { ms, refusal }: Patience): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const givingUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(refusal());
    }, ms);
  });
  try {
    await Promise.race([turn, givingUp]);
  } catch (error) {
    void turn.then(leave);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
