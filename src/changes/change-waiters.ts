import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { FairQueue, type Leave } from '../concurrency/fair-queue';
import { HttpErrors } from '../errors/http.errors';
import { Refusal } from '../errors/refusal';
import type { RequestContext } from '../tenancy/request-context';
import type { ChangeDto } from '../web/change.dto';
import type { PageView } from '../database/page';
import type { Idle } from '../web/work-place';
import { JournalWatch } from '../journal/journal-watch';
import { JournalErrors } from './journal.errors';

/** How many requests may wait for changes, in all and of one top-level tenant with all below it. */
const FOLLOWERS = { inWork: 0, waiting: 1000, line: 100 };
/** How many of those that were woken queue for a place of work at the same time. */
const WOKEN = { inWork: 4, waiting: Infinity };
/** After which a follower that got no place of work tries again. */
const RETRY_MS = 400;

type Page = PageView<ChangeDto>;

export interface Follower {
  readonly ctx: Pick<RequestContext, 'topTenantId'>;
  /** What may concern it. */
  readonly topics: readonly string[];
  /** What it reads: followers that read the same share a read. */
  readonly name: string;
  readonly read: () => Promise<Page>;
}

/** Followers that read the same, and what they have read last. */
interface Group {
  size: number;
  read?: { readonly since: number; readonly page: Promise<Page> };
}

interface Waiter extends Follower {
  readonly group: Group;
  /** The number of the commit that it has not looked for yet; 0 for none. */
  wokenBy: number;
  /** Whether another follower has its place now. */
  isCrowdedOut: boolean;
  wake: () => void;
}

/**
 * Long polls: requests that wait until something is committed that concerns them, in this process or in another. Their places are shared
 * fairly by top-level tenant: when all are taken, a newcomer gets that of another whose tenant has most. That one is answered early.
 */
@Injectable()
export class ChangeWaiters {
  readonly #places = new FairQueue(FOLLOWERS);
  readonly #turns = new FairQueue(WOKEN);
  readonly #groups = new Map<string, Group>();

  constructor(private readonly watch: JournalWatch) {}

  get count(): number {
    return this.#places.counts.waiting;
  }

  /**
   * Reads until there is something, each time that something was committed that concerns the follower; at most for so long, and not
   * for a client that has gone. Gives what was read last. Who has waited is checked again.
   */
  async until(follower: Follower, milliseconds: number, idle: Idle): Promise<Page> {
    const deadline = performance.now() + milliseconds;
    const { waiter, leave } = this.#add(follower);
    const isOver = (): boolean =>
      performance.now() >= deadline || idle.signal.aborted || waiter.isCrowdedOut || this.watch.isStopped;
    try {
      let page = await follower.read();
      if (hasNews(page) || isOver()) return page;
      for (;;) {
        const endTurn = await this.#turn(waiter, deadline, idle, isOver);
        try {
          if (waiter.wokenBy > 0 && !isOver()) page = await this.#readTogether(waiter);
          if (!hasNews(page) && !isOver()) continue;
          // After it was read: nothing is delivered that has happened since the right to see it has ended.
          await idle.checkAgain();
          return page;
        } finally {
          endTurn();
        }
      }
    } finally {
      leave();
    }
  }

  /** Waits for a commit or the end of the time, and then for a place to work in; without one when the time is over before. */
  async #turn(waiter: Waiter, deadline: number, idle: Idle, isOver: () => boolean): Promise<Leave> {
    let wait = () => this.#wait(waiter, deadline - performance.now(), idle.signal);
    for (;;) {
      let endTurn: Leave = () => undefined;
      try {
        await idle.during(async () => {
          await wait();
          endTurn = await this.#turns.acquire(waiter.ctx.topTenantId, JournalErrors.TOO_MANY_FOLLOWERS);
        });
        return endTurn;
      } catch (error) {
        endTurn();
        if (!isOverloaded(error)) throw error;
        if (isOver()) return () => undefined;
        // An overloaded service lets its followers wait on; they lose nothing by it.
        wait = () => sleep(RETRY_MS);
      }
    }
  }

  async #wait(waiter: Waiter, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (waiter.wokenBy > 0) return;
    const end = new AbortController();
    waiter.wake = () => {
      end.abort();
    };
    signal.addEventListener('abort', waiter.wake, { signal: end.signal });
    await sleep(milliseconds, undefined, { signal: end.signal }).catch(() => undefined);
    // So the signal of the request lets go of the listener.
    end.abort();
  }

  /** What another follower has read since the commit that has woken this one is good for both. */
  #readTogether(waiter: Waiter): Promise<Page> {
    const { group, wokenBy, read } = waiter;
    // Before it reads: what is committed while it reads wakes it again.
    waiter.wokenBy = 0;
    if (!group.read || group.read.since < wokenBy) group.read = { since: this.watch.commits, page: read() };
    return group.read.page;
  }

  #add(follower: Follower): { waiter: Waiter; leave: Leave } {
    const { ctx, topics, name } = follower;
    const group = this.#groups.get(name) ?? { size: 0 };
    const waiter: Waiter = { ...follower, group, wokenBy: 0, isCrowdedOut: false, wake: () => undefined };
    const crowdOut = (): void => {
      waiter.isCrowdedOut = true;
      waiter.wake();
    };
    const leavePlace = this.#places.enter(ctx.topTenantId, () => undefined, crowdOut);
    if (waiter.isCrowdedOut) throw JournalErrors.TOO_MANY_FOLLOWERS();
    group.size += 1;
    this.#groups.set(name, group);
    const unfollow = this.watch.follow(topics, (commit) => {
      waiter.wokenBy = commit;
      waiter.wake();
    });
    const leave = (): void => {
      leavePlace();
      group.size -= 1;
      if (group.size === 0) this.#groups.delete(name);
      unfollow();
    };
    return { waiter, leave };
  }
}

function hasNews({ rows, hasMore }: Page): boolean {
  return rows.length > 0 || hasMore;
}

function isOverloaded(error: unknown): boolean {
  return error instanceof Refusal && error.row === HttpErrors.OVERLOADED.row;
}
