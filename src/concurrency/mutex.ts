/** Calling it more than once does nothing. */
export type Release = () => void;

export interface WaitLimit {
  readonly ms: number;
  readonly refusal: () => Error;
}

/** One holder at a time, in the order of arrival. */
export class Mutex {
  #last: Promise<void> | null = null;
  #present = 0;

  get held(): number {
    return Math.min(this.#present, 1);
  }

  get waiting(): number {
    return this.#present - this.held;
  }

  get isFree(): boolean {
    return this.#present === 0;
  }

  async acquire(limit?: WaitLimit): Promise<Release> {
    const before = this.#last;
    let resolve: () => void = () => undefined;
    const own = new Promise<void>((done) => {
      resolve = done;
    });
    this.#last = own;
    this.#present += 1;
    const pass = (): void => {
      if (this.#last === own) this.#last = null;
      resolve();
    };
    try {
      // Without a timer where no one holds it.
      if (before) await (limit ? inTime(before, limit) : before);
    } catch (error) {
      this.#present -= 1;
      void before?.then(pass);
      throw error;
    }
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#present -= 1;
      pass();
    };
  }

  async runExclusive<T>(work: () => Promise<T>, limit?: WaitLimit): Promise<T> {
    const release = await this.acquire(limit);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  async runExclusive<T>(key: string, work: () => Promise<T>, limit?: WaitLimit): Promise<T> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.runExclusive(work, limit);
    } finally {
      if (mutex.isFree) this.#mutexes.delete(key);
    }
  }
}

/** The result of `promise`, or the refusal after `ms`. What the promise gives later is left alone. */
export function inTime<T>(promise: Promise<T>, { ms, refusal }: WaitLimit): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(refusal());
    }, ms);
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}
