/** How many are in work at once, how many may wait, and for how long. */
export interface QueueLimits {
  readonly inWork: number;
  readonly waiting: number;
  /** How many of one key may wait. Default: as many as there is room for. */
  readonly line?: number;
  /** Default: for as long as it takes. */
  readonly waitMs?: number;
  /**
   * How many of those that wait start in one turn of the event loop, in which others are served, too. Default: at once whoever
   * there is a place for.
   */
  readonly startsPerTurn?: number;
  /** The part of the places that one key may hold, however few others there are. Default: three quarters. */
  readonly share?: number;
}

interface Entry {
  readonly key: string;
  readonly start: () => void;
  readonly refuse: () => void;
  state: 'waiting' | 'in work' | 'left';
  timer?: NodeJS.Timeout;
}

/** Gives the place back, or leaves the queue; calling it more than once does nothing. */
export type Leave = () => void;

/** No key may hold all places: what it asks for may take long. */
const SHARE = 3 / 4;

/**
 * A semaphore with a bounded queue, served round robin by key. When the queue is full, a newcomer takes the place of the last
 * one in the longest line, if its own line is shorter; otherwise it is refused.
 */
export class FairQueue {
  readonly counts = { inWork: 0, waiting: 0, refused: 0 };
  /** Those that wait, by key, in the order in which the keys are served. */
  readonly #lines = new Map<string, readonly Entry[]>();
  readonly #inWork = new Map<string, number>();
  #startsNextTurn = false;

  constructor(private readonly limits: QueueLimits) {}

  /** Whether one more request of this key must be refused at once; it is counted then. */
  refuses(key: string): boolean {
    const isFull = !this.#hasPlaceFor(key) && !this.#mayWait(key);
    if (isFull) this.counts.refused += 1;
    return isFull;
  }

  enter(key: string, start: () => void, refuse: () => void): Leave {
    const entry: Entry = { key, start, refuse, state: 'left' };
    // Whoever starts in the next turn has come before.
    if (this.#hasPlaceFor(key) && !this.#lines.has(key) && !this.#startsNextTurn) this.#start(entry);
    else if (this.#mayWait(key)) this.#wait(entry);
    else this.#refuse(entry);
    return this.#leave.bind(this, entry);
  }

  /** Waits for a place; fails with the refusal when there is none in time. */
  acquire(key: string, refusal: () => Error): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const leave = this.enter(
        key,
        () => {
          resolve(() => {
            leave();
          });
        },
        () => {
          reject(refusal());
        },
      );
    });
  }

  /** Does the work in a place, and gives it back. */
  async run<T>(key: string, work: () => Promise<T>, refusal: () => Error): Promise<T> {
    const leave = await this.acquire(key, refusal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #hasPlaceFor(key: string): boolean {
    const { inWork, share = SHARE } = this.limits;
    const most = Math.max(1, Math.floor(share * inWork));
    return this.counts.inWork < inWork && (this.#inWork.get(key) ?? 0) < most;
  }

  #mayWait(key: string): boolean {
    const { length } = this.#lineOf(key);
    if (length >= (this.limits.line ?? Infinity)) return false;
    if (this.counts.waiting < this.limits.waiting) return true;
    return length + 1 < this.#longestLine().length;
  }

  #start(entry: Entry): void {
    entry.state = 'in work';
    this.#countInWork(entry.key, 1);
    entry.start();
  }

  #wait(entry: Entry): void {
    const isFull = this.counts.waiting >= this.limits.waiting;
    const last = isFull ? this.#longestLine().at(-1) : undefined;
    if (last) this.#refuse(last);
    entry.state = 'waiting';
    const { waitMs } = this.limits;
    if (waitMs !== undefined) entry.timer = setTimeout(this.#refuse.bind(this, entry), waitMs).unref();
    this.counts.waiting += 1;
    this.#lines.set(entry.key, [...this.#lineOf(entry.key), entry]);
  }

  #refuse(entry: Entry): void {
    this.#leave(entry);
    this.counts.refused += 1;
    entry.refuse();
  }

  #leave(entry: Entry): void {
    const { state, key } = entry;
    entry.state = 'left';
    if (state === 'waiting') this.#takeOutOfLine(entry);
    if (state !== 'in work') return;
    this.#countInWork(key, -1);
    if (this.limits.startsPerTurn === undefined) this.#startNext();
    else this.#startNextTurn(this.limits.startsPerTurn);
  }

  #startNextTurn(starts: number): void {
    if (this.#startsNextTurn || this.#lines.size === 0) return;
    this.#startsNextTurn = true;
    setImmediate(() => {
      this.#startsNextTurn = false;
      for (let left = starts; left > 0; left -= 1) if (!this.#startNext()) return;
      this.#startNextTurn(starts);
    });
  }

  /** Gives whether there was one to start. */
  #startNext(): boolean {
    for (const [next, [first]] of this.#lines)
      if (first && this.#hasPlaceFor(next)) {
        this.#takeOutOfLine(first);
        // The others of this key come after all other keys.
        const rest = this.#lineOf(next);
        if (this.#lines.delete(next)) this.#lines.set(next, rest);
        this.#start(first);
        return true;
      }
    return false;
  }

  #takeOutOfLine(entry: Entry): void {
    clearTimeout(entry.timer);
    this.counts.waiting -= 1;
    const rest = this.#lineOf(entry.key).filter((other) => other !== entry);
    if (rest.length > 0) this.#lines.set(entry.key, rest);
    else this.#lines.delete(entry.key);
  }

  #countInWork(key: string, by: 1 | -1): void {
    this.counts.inWork += by;
    const inWork = (this.#inWork.get(key) ?? 0) + by;
    if (inWork > 0) this.#inWork.set(key, inWork);
    else this.#inWork.delete(key);
  }

  #lineOf(key: string): readonly Entry[] {
    return this.#lines.get(key) ?? [];
  }

  #longestLine(): readonly Entry[] {
    return [...this.#lines.values()].reduce(
      (longest, line) => (line.length >= longest.length ? line : longest),
      [],
    );
  }
}
