/** How much is done, and how much waits, at once. */
export abstract class AdmissionLimits {
  abstract readonly inWork: number;
  abstract readonly waiting: number;
  /** Who has waited so long is refused: its client has more use for an answer than for a place. */
  abstract readonly waitMs: number;
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

/** A tenant's part in what is going on: its reads, or its writes. */
class Share {
  inWork = 0;
  readonly waiting: Place[] = [];

  constructor(readonly most: number) {}
}

/** Writes of one tenant take turns further in: more of them in work would only hold places that others can use. */
const WRITES_AT_ONCE = 3;
const WRITES = '|writes';

/** The name of the share that a request of this tenant belongs to. */
export function shareOf(tenant: string | undefined, method: string): string {
  return method === 'GET' || method === 'HEAD' ? (tenant ?? '') : (tenant ?? '') + WRITES;
}

/** Where a visit stands. */
export interface Place {
  readonly visit: Visit;
  readonly share: Share;
  readonly since: number;
  state: 'waiting' | 'in work' | 'idle' | 'gone';
}

/** Who is alone may have most places, never all: what it asks for may take long. */
const MOST_OF_ALL = 2 / 3;
/** With fewer, a share could not use the time in which the database works. */
const FEWEST = 2;
/** Who has asked for something lately counts as somebody to share with. */
const LATELY_MS = 100;
/** Otherwise shares of the same size would drive each other out, and each time somebody had waited in vain. */
const NEARLY = 0.75;
const SWEEP_MS = 50;
const MOST_SHARES = 10_000;

/** How many different ones there were, in this stretch of time or the one before. */
class Lately<T> {
  readonly #now = new Set<T>();
  #before = 0;
  #begun = -Infinity;

  constructor(private readonly stretchMs: number) {}

  get count(): number {
    return Math.max(this.#now.size, this.#before);
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

/**
 * Lets a bounded number of visits in at once and a bounded number wait, each for a bounded time. Places are shared by
 * tenant: nobody can have all of them, those who wait are served in turn by tenant, and when too many wait, the last of the
 * tenant that has most of them is sent away.
 */
export class Admission {
  readonly #shares = new Map<string, Share>();
  /** Tenants of which somebody waits; the first of them is the next. */
  readonly #turns: Share[] = [];
  readonly #working = new Set<Place>();
  readonly #lately = new Lately<Share>(LATELY_MS);
  #waiting = 0;
  #idle = 0;
  #refused = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: AdmissionLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** For who watches: how many are in work, wait, and were refused so far. */
  get counts(): { inWork: number; waiting: number; refused: number } {
    return { inWork: this.#working.size + this.#idle, waiting: this.#waiting, refused: this.#refused };
  }

  /** Whether one more of this share would be sent away at once; then it is counted as refused. */
  turnsAway(name: string): boolean {
    if (this.#waiting < this.limits.waiting) return false;
    if (this.#mayReplace(this.#shares.get(name))) return false;
    this.#refused += 1;
    return true;
  }

  /** The state of the place says whether it is in work at once, has to wait, or is refused. */
  enter(name: string, visit: Visit): Place {
    const share = this.#share(name);
    const place: Place = { visit, share, since: this.now(), state: 'gone' };
    this.#lately.note(share, place.since);
    if (share.waiting.length === 0 && this.#hasRoomFor(share)) this.#takeIn(place);
    else this.#queue(place);
    return place;
  }

  /** To be called when it is done, or was given up; calling it more than once does nothing. */
  leave(place: Place): void {
    const { state } = place;
    place.state = 'gone';
    if (state === 'in work') {
      this.#working.delete(place);
      place.share.inWork -= 1;
      if (this.#waiting > 0) this.#beginNext();
    } else if (state === 'idle') this.#idle -= 1;
    else if (state === 'waiting') this.#forget(place);
  }

  #hasRoomFor(share: Share): boolean {
    const { inWork } = this.limits;
    if (this.#working.size >= inWork) return false;
    const sharing = this.#lately.count;
    const fair = sharing > 1 ? Math.max(FEWEST, inWork / sharing) : MOST_OF_ALL * inWork;
    return share.inWork < Math.min(share.most, Math.ceil(fair));
  }

  #takeIn(place: Place): void {
    place.state = 'in work';
    place.share.inWork += 1;
    this.#working.add(place);
  }

  #queue(place: Place): void {
    if (this.#waiting >= this.limits.waiting) {
      const last = this.#longest().waiting.at(-1);
      if (!last || !this.#mayReplace(place.share)) {
        this.#refused += 1;
        return;
      }
      this.#refuse(last);
    }
    place.state = 'waiting';
    if (place.share.waiting.push(place) === 1) this.#turns.push(place.share);
    this.#waiting += 1;
    this.#sweeper ??= setInterval(() => {
      this.#sweep();
    }, SWEEP_MS).unref();
  }

  #refuse(place: Place): void {
    this.#forget(place);
    place.state = 'gone';
    this.#refused += 1;
    place.visit.refuse();
  }

  /** Takes it out of those who wait. */
  #forget(place: Place): void {
    const { share } = place;
    share.waiting.splice(share.waiting.indexOf(place), 1);
    if (share.waiting.length === 0) this.#turns.splice(this.#turns.indexOf(share), 1);
    this.#waiting -= 1;
  }

  #beginNext(): void {
    for (let inVain = 0; inVain < this.#turns.length; inVain += 1) {
      const share = this.#turns.shift();
      const place = share?.waiting[0];
      if (!share || !place) return;
      this.#turns.push(share);
      if (!this.#hasRoomFor(share)) continue;
      this.#forget(place);
      this.#takeIn(place);
      place.visit.begin();
      inVain = -1;
    }
  }

  /** Whether one more of this share may wait instead of one of those that have most; not if it has nearly as many. */
  #mayReplace(share: Share | undefined): boolean {
    const own = share?.waiting.length ?? 0;
    return own < (own === 0 ? 1 : NEARLY) * this.#longest().waiting.length;
  }

  #longest(): Share {
    return this.#turns.reduce((most, share) => (share.waiting.length > most.waiting.length ? share : most));
  }

  /** While somebody waits: places of those who only wait for their clients are given away, and old ones given up. */
  #sweep(): void {
    for (const place of this.#working) {
      if (this.#idle >= this.limits.inWork) break;
      if (!place.visit.isIdle) continue;
      this.leave(place);
      place.state = 'idle';
      this.#idle += 1;
    }
    const oldest = this.now() - this.limits.waitMs;
    for (const share of [...this.#turns]) {
      for (const place of share.waiting.filter(({ since }) => since < oldest)) this.#refuse(place);
    }
    if (this.#waiting > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #share(name: string): Share {
    let share = this.#shares.get(name);
    if (share) return share;
    if (this.#shares.size >= MOST_SHARES) this.#forgetIdle();
    share = new Share(name.endsWith(WRITES) ? WRITES_AT_ONCE : Infinity);
    this.#shares.set(name, share);
    return share;
  }

  #forgetIdle(): void {
    for (const [name, { inWork, waiting }] of this.#shares) {
      if (inWork === 0 && waiting.length === 0) this.#shares.delete(name);
    }
  }
}
