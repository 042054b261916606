import { Lately, Share, type Kind, type Place, type Visit } from './share';

/** How much is done, and how much waits, at once. */
export interface AdmissionLimits {
  readonly inWork: number;
  readonly waiting: number;
  /** Who has waited so long is refused: its client has more use for an answer than for a place. */
  readonly waitMs: number;
}

/** Writes of one tenant take turns further in: more of them in work would only hold places that others can use. */
const WRITES_AT_ONCE = 3;
/** Nor may writes that wait for each other fill the room in which reads wait. */
const WRITES_OF_WAITING = 1 / 2;
/** Who is alone may have most places, never all: what it asks for may take long. */
const MOST_OF_ALL = 2 / 3;
/** With fewer, a tenant could not use the time in which the database works, nor read while it writes. */
const FEWEST = 2;
/** Who has asked for something lately counts as somebody to share with. */
const LATELY_MS = 100;
/** Otherwise tenants with the same number would drive each other out, and each time somebody had waited in vain. */
const NEARLY = 0.75;
const SWEEP_MS = 50;
const MOST_SHARES = 10_000;

/**
 * Lets a bounded number of visits in at once and a bounded number wait, each for a bounded time. Places are shared by
 * tenant: nobody can have all of them, those who wait are served in turn by tenant, and when too many wait, the last of the
 * tenant that has most of them is sent away. Within a tenant who came first is served first, whether it reads or writes: so
 * what is done is of the same kinds as what was asked for.
 */
export class Admission {
  readonly #shares = new Map<string, Share>();
  /** Tenants of which somebody waits; the first of them is the next. */
  readonly #turns: Share[] = [];
  readonly #working = new Set<Place>();
  readonly #lately = new Lately<Share>(LATELY_MS);
  #waiting = 0;
  /** Places that were left in this turn of the event loop: they are for those who wait. */
  #left = 0;
  #idle = 0;
  #refused = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: AdmissionLimits,
    private readonly now: () => number = () => performance.now(),
    private readonly afterThisTurn: (work: () => void) => void = setImmediate,
  ) {}

  /** For who watches: how many are in work, wait, and were refused so far. */
  get counts(): { inWork: number; waiting: number; refused: number } {
    return { inWork: this.#working.size + this.#idle, waiting: this.#waiting, refused: this.#refused };
  }

  /** Whether one more of this tenant would be sent away at once; then it is counted as refused. */
  turnsAway(tenant: string, kind: Kind): boolean {
    if (this.#waiting < this.limits.waiting && kind === 'read') return false;
    const share = this.#share(tenant);
    if (this.#beginsAtOnce(share, kind) || this.#mayWait(share, kind)) return false;
    this.#refused += 1;
    return true;
  }

  /** The state of the place says whether it is in work at once, has to wait, or is refused. */
  enter(tenant: string, kind: Kind, visit: Visit): Place {
    const share = this.#share(tenant);
    const place: Place = { visit, kind, share, since: this.now(), state: 'gone' };
    this.#lately.note(share, place.since);
    if (this.#beginsAtOnce(share, kind)) this.#takeIn(place);
    else if (this.#mayWait(share, kind)) this.#queue(place);
    else this.#refused += 1;
    return place;
  }

  /** To be called when it is done, or was given up; calling it more than once does nothing. */
  leave(place: Place): void {
    const { state } = place;
    place.state = 'gone';
    if (state === 'in work') {
      this.#working.delete(place);
      place.share.inWork[place.kind] -= 1;
      if (this.#waiting > 0) this.#beginSoon();
    } else if (state === 'idle') this.#idle -= 1;
    else if (state === 'waiting') this.#forget(place);
  }

  /** Not before others of the same tenant who wait for a place of theirs that was just left, whatever they want to do. */
  #beginsAtOnce(share: Share, kind: Kind): boolean {
    const waiting = this.#left > 0 ? share.countWaiting : share.waiting[kind].length;
    return waiting === 0 && this.#hasRoomFor(share, kind);
  }

  #hasRoomFor(share: Share, kind: Kind): boolean {
    const { inWork } = this.limits;
    if (this.#working.size + this.#left >= inWork) return false;
    const sharing = this.#lately.countAt(this.now());
    const fair = Math.ceil(sharing > 1 ? Math.max(FEWEST, inWork / sharing) : MOST_OF_ALL * inWork);
    if (share.countInWork >= fair) return false;
    return (
      kind === 'read' || share.inWork.write < Math.min(WRITES_AT_ONCE, Math.max(1, Math.floor(fair / 2)))
    );
  }

  #takeIn(place: Place): void {
    place.state = 'in work';
    place.share.inWork[place.kind] += 1;
    this.#working.add(place);
  }

  /** Where there is no room left: instead of one of those that have most, unless it has nearly as many. */
  #mayWait(share: Share, kind: Kind): boolean {
    const { waiting } = this.limits;
    if (kind === 'write' && share.waiting.write.length >= WRITES_OF_WAITING * waiting) return false;
    if (this.#waiting < waiting) return true;
    const own = share.countWaiting;
    return own < (own === 0 ? 1 : NEARLY) * (this.#longest()?.countWaiting ?? 0);
  }

  #queue(place: Place): void {
    if (this.#waiting >= this.limits.waiting) {
      const last = this.#longest()?.last();
      if (last) this.#refuse(last);
    }
    const { share, kind } = place;
    place.state = 'waiting';
    if (share.countWaiting === 0) this.#turns.push(share);
    share.waiting[kind].push(place);
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

  #forget(place: Place): void {
    const { share } = place;
    share.forget(place);
    if (share.countWaiting === 0) this.#turns.splice(this.#turns.indexOf(share), 1);
    this.#waiting -= 1;
  }

  /** Together with all others for whom there is room then. */
  #beginSoon(): void {
    this.#left += 1;
    if (this.#left > 1) return;
    this.afterThisTurn(() => {
      this.#left = 0;
      this.#beginNext();
    });
  }

  /** As many of a tenant as may, and then of the next: what is looked up for one tenant in the same turn is looked up at once. */
  #beginNext(): void {
    for (let inVain = 0; inVain < this.#turns.length; inVain += 1) {
      const share = this.#turns.shift();
      if (!share) return;
      this.#turns.push(share);
      for (let place = this.#nextOf(share); place; place = this.#nextOf(share)) {
        this.#forget(place);
        this.#takeIn(place);
        place.visit.begin();
        inVain = -1;
      }
    }
  }

  #nextOf(share: Share): Place | undefined {
    return share.next((kind) => this.#hasRoomFor(share, kind));
  }

  /** Of several the one whose turn is farthest away. */
  #longest(): Share | undefined {
    let longest: Share | undefined;
    for (const share of this.#turns)
      if (!longest || share.countWaiting >= longest.countWaiting) longest = share;
    return longest;
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
      for (const place of share.waitingSince(oldest)) if (place.state === 'waiting') this.#refuse(place);
    }
    // Others may have stopped asking, so that there is room now.
    if (this.#waiting > 0) this.#beginNext();
    if (this.#waiting > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #share(tenant: string): Share {
    let share = this.#shares.get(tenant);
    if (share) return share;
    if (this.#shares.size >= MOST_SHARES) this.#forgetIdle();
    share = new Share();
    this.#shares.set(tenant, share);
    return share;
  }

  #forgetIdle(): void {
    for (const [tenant, { countInWork, countWaiting }] of this.#shares) {
      if (countInWork === 0 && countWaiting === 0) this.#shares.delete(tenant);
    }
  }
}
