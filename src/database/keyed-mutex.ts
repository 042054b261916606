import { Mutex, type Leave, type Patience } from './mutex';

interface Queue {
  readonly mutex: Mutex;
  holders: number;
}

/** A mutex per key: units on the same data wait for each other here, not in the database with a connection each. */
export class KeyedMutex {
  readonly #queues = new Map<string, Queue>();

  /** Runs `work` alone among those of the same key, in the order of arrival. */
  async run<T>(key: string, work: () => Promise<T>, patience?: Patience): Promise<T> {
    const leave = await this.#enter(key, patience);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async #enter(key: string, patience?: Patience): Promise<Leave> {
    const queue = this.#queues.get(key) ?? { mutex: new Mutex(), holders: 0 };
    this.#queues.set(key, queue);
    queue.holders += 1;
    const goAway = (): void => {
      queue.holders -= 1;
      if (queue.holders === 0) this.#queues.delete(key);
    };
    try {
      const leave = await queue.mutex.enter(patience);
      return () => {
        goAway();
        leave();
      };
    } catch (error) {
      goAway();
      throw error;
    }
  }
}
