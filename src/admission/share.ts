/** What a request does: writes of one tenant take turns further in, reads do not. */
export type Kind = 'read' | 'write';

export function kindOf(method: string): Kind {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
}

/** Somebody who wants to be served, and may have to wait. */
export interface Visit {
  /** After a wait: its turn has come. */
  begin(): void;
  /** After a wait: it will not come. */
  refuse(): void;
  /** Whether it waits for its own client, so that others may have its place. */
  readonly isIdle: boolean;
}

/** Where a visit stands. */
export interface Place {
  readonly visit: Visit;
  readonly kind: Kind;
  readonly share: Share;
  readonly since: number;
  state: 'waiting' | 'in work' | 'idle' | 'gone';
}

/** A tenant's part in what is going on. */
export class Share {
  readonly inWork: Record<Kind, number> = { read: 0, write: 0 };
  readonly waiting: Readonly<Record<Kind, Place[]>> = { read: [], write: [] };

  get countInWork(): number {
    return this.inWork.read + this.inWork.write;
  }

  get countWaiting(): number {
    return this.waiting.read.length + this.waiting.write.length;
  }

  /** Who has waited longest, of those that may begin. */
  next(mayBegin: (kind: Kind) => boolean): Place | undefined {
    const [read] = this.waiting.read;
    const [write] = this.waiting.write;
    const isReadFirst = read && (!write || read.since <= write.since);
    const [first, second] = isReadFirst ? [read, write] : [write, read];
    if (first && mayBegin(first.kind)) return first;
    return second && mayBegin(second.kind) ? second : undefined;
  }

  /** Who came last of all that wait. */
  last(): Place | undefined {
    const read = this.waiting.read.at(-1);
    const write = this.waiting.write.at(-1);
    return !read || (write && write.since > read.since) ? write : read;
  }

  /** Takes it out of those who wait. */
  forget(place: Place): void {
    const line = this.waiting[place.kind];
    line.splice(line.indexOf(place), 1);
  }

  waitingSince(before: number): Place[] {
    return [...this.waiting.read, ...this.waiting.write].filter(({ since }) => since < before);
  }
}

/** How many different ones there were, in this stretch of time or the one before. */
export class Lately<T> {
  readonly #now = new Set<T>();
  #before = 0;
  #begun = -Infinity;

  constructor(private readonly stretchMs: number) {}

  countAt(at: number): number {
    const age = at - this.#begun;
    if (age >= 2 * this.stretchMs) return 0;
    return age >= this.stretchMs ? this.#now.size : Math.max(this.#now.size, this.#before);
  }

  note(one: T, at: number): void {
    if (at - this.#begun >= this.stretchMs) {
      this.#before = at - this.#begun < 2 * this.stretchMs ? this.#now.size : 0;
      this.#begun = at;
      this.#now.clear();
    }
    this.#now.add(one);
  }
}
