/** How many requests are in work at once, how many may wait, and for how long. */
export interface QueueLimits {
  readonly inWork: number;
  readonly waiting: number;
  readonly waitMs: number;
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

/** No key may hold all places, however few others there are: what it asks for may take long. */
const MAX_SHARE = 3 / 4;

/**
 * A bounded queue in front of a bounded number of places, served round robin by key. When the queue is full, a newcomer takes the
 * place of the last one in the longest line, if its own line is shorter; otherwise it is refused.
 */
export class FairQueue {
  /** Those that wait, by key, in the order in which the keys are served. */
  readonly #lines = new Map<string, Entry[]>();
  readonly #inWorkByKey = new Map<string, number>();
  readonly counts = { inWork: 0, waiting: 0, refused: 0 };

  constructor(private readonly limits: QueueLimits) {}

  /** Whether one more request of this key would be refused at once. */
  isFullFor(key: string): boolean {
    return !this.#hasPlaceFor(key) && !this.#mayWait(key);
  }

  /** Starts the request at once or later, or refuses it. */
  enter(key: string, start: () => void, refuse: () => void): Leave {
    const entry: Entry = { key, start, refuse, state: 'left' };
    if (this.#hasPlaceFor(key) && !this.#lines.has(key)) this.#start(entry);
    else if (this.#mayWait(key)) this.#wait(entry);
    else this.#refuse(entry);
    return () => {
      this.#leave(entry);
    };
  }

  #hasPlaceFor(key: string): boolean {
    const share = Math.max(1, Math.floor(MAX_SHARE * this.limits.inWork));
    return this.counts.inWork < this.limits.inWork && (this.#inWorkByKey.get(key) ?? 0) < share;
  }

  #mayWait(key: string): boolean {
    if (this.counts.waiting < this.limits.waiting) return true;
    return (this.#lines.get(key)?.length ?? 0) + 1 < this.#longestLine().length;
  }

  #start(entry: Entry): void {
    entry.state = 'in work';
    this.counts.inWork += 1;
    this.#inWorkByKey.set(entry.key, (this.#inWorkByKey.get(entry.key) ?? 0) + 1);
    entry.start();
  }

  #wait(entry: Entry): void {
    const last = this.#longestLine().at(-1);
    if (last && this.counts.waiting >= this.limits.waiting) this.#refuse(last);
    entry.state = 'waiting';
    this.counts.waiting += 1;
    this.#lines.set(entry.key, [...(this.#lines.get(entry.key) ?? []), entry]);
    entry.timer = setTimeout(() => {
      this.#refuse(entry);
    }, this.limits.waitMs).unref();
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
    this.counts.inWork -= 1;
    const left = (this.#inWorkByKey.get(key) ?? 1) - 1;
    if (left > 0) this.#inWorkByKey.set(key, left);
    else this.#inWorkByKey.delete(key);
    this.#startNext();
  }

  #startNext(): void {
    for (const [key, [first, ...rest]] of this.#lines) {
      if (!first || !this.#hasPlaceFor(key)) continue;
      this.#takeOutOfLine(first);
      // The others of this key come after all other keys.
      this.#lines.delete(key);
      if (rest.length > 0) this.#lines.set(key, rest);
      this.#start(first);
      return;
    }
  }

  #takeOutOfLine(entry: Entry): void {
    clearTimeout(entry.timer);
    this.counts.waiting -= 1;
    const line = this.#lines.get(entry.key)?.filter((other) => other !== entry) ?? [];
    if (line.length > 0) this.#lines.set(entry.key, line);
    else this.#lines.delete(entry.key);
  }

  #longestLine(): readonly Entry[] {
    let longest: readonly Entry[] = [];
    for (const line of this.#lines.values()) if (line.length >= longest.length) longest = line;
    return longest;
  }
}
