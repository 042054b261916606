import { FifoGate, type Leave } from './fifo-gate';

interface Queue {
  readonly gate: FifoGate;
  holders: number;
}

/** How long to wait for a turn, and what to say when it does not come. */
export interface Patience {
  readonly ms: number;
  readonly refusal: () => Error;
}

/** A gate per key: units on the same data wait for each other here, not in the database with a connection each. */
export class KeyedGate {
  readonly #queues = new Map<string, Queue>();

  /** Runs `work` alone among those of the same key, in the order of arrival. */
  async run<T>(key: string, work: () => Promise<T>, patience?: Patience): Promise<T> {
    const entering = this.#enter(key);
    const leave = await (patience ? orGiveUp(entering, patience) : entering);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async #enter(key: string): Promise<Leave> {
    const queue = this.#queues.get(key) ?? { gate: new FifoGate(), holders: 0 };
    this.#queues.set(key, queue);
    queue.holders += 1;
    const leave = await queue.gate.enter();
    return () => {
      queue.holders -= 1;
      if (queue.holders === 0) this.#queues.delete(key);
      leave();
    };
  }
}

/** Who has waited in vain passes its turn on when it comes. */
async function orGiveUp(entering: Promise<Leave>, { ms, refusal }: Patience): Promise<Leave> {
  let timer: NodeJS.Timeout | undefined;
  const givingUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(refusal());
    }, ms);
  });
  try {
    return await Promise.race([entering, givingUp]);
  } catch (error) {
    void entering.then((leave) => {
      leave();
    });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
