import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import type { FairQueue } from '../concurrency/fair-queue';
import type { TenantryChange } from '../journal/change-log';
import type { Position } from '../journal/journal-state';
import { RENEW_MS } from './lease.repository';
import type { TenantryPosition } from './subscription.entity';
import type { SubscriptionRepository, Wanted } from './subscription.repository';

/** What gets the entries of journals, each journal in its order: a webhook, or a handler of the host. */
export interface Subscription {
  /** Also of its lease and of its positions. */
  readonly name: string;
  /** Whose share of the places it is served in. */
  readonly share: string;
  wanted(journal: string): Wanted;
  /** Takes one entry. When it fails, the same entry comes again, and later ones of its journal wait. */
  handle(entry: TenantryChange, attempt: number): Promise<void>;
  /** Milliseconds until the next try. */
  failed(error: unknown, failure: Failure): Promise<number>;
}

export interface Failure {
  readonly entry: TenantryChange;
  readonly attempts: number;
  /** For how long it has failed. */
  readonly forMs: number;
}

/** A subscription, and the journals in which there is something for it. */
export interface Work {
  readonly subscription: Subscription;
  readonly journals: Iterable<string>;
}

/** Thrown by a subscription that may not be served now: the entry comes again, and this is no failed try of it. */
export class NotNow extends Error {}

/** Finds work in these journals, or in all of them. */
type FindWork = (journals: readonly string[] | null) => AsyncIterable<Work>;

interface DispatcherOptions {
  readonly find: FindWork;
  /** For the subscriptions that are served at the same time. One that finds no room in the queue is found again by a later look. */
  readonly places: FairQueue;
  readonly logger: Logger;
}

const TICK_MS = 1000;
/** Looking through all journals takes at most this part of the time. */
const SCAN_SHARE = 0.05;
/** Commits of more tenants than that are left to the next look through all of them. */
const MOST_WOKEN = 500;
/** Then a subscription makes room for others, however much there is for it. */
const TURN_MS = 1000;
const STOP_MS = 5000;
/** Made once: an error collects a stack. */
const FULL = new Error('Too many subscriptions wait.');

/**
 * Brings entries of journals to subscriptions, in the order of each journal, at least once. Commits of this process wake it,
 * those of others are found within a second. A lease lets one process at a time serve a subscription.
 */
export class ChangeDispatcher {
  readonly #queue = new Map<string, Work>();
  /** Of the subscriptions that wait for a place or have one. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #committed = new Set<string>();
  #wake: () => void = () => undefined;
  #isStopped = false;
  #running: Promise<void> | undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(
    private readonly subscriptions: SubscriptionRepository,
    private readonly options: DispatcherOptions,
  ) {}

  start(): void {
    this.#unsubscribe = this.subscriptions.onCommit((journal) => {
      this.#committed.add(journal);
      this.#wake();
    });
    this.#running = this.#run();
  }

  /** Waits a while for what is under way: after this the database is closed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    this.#wake();
    const ends = Promise.all([this.#running, ...this.#turns.values()]);
    await Promise.race([ends, sleep(STOP_MS, undefined, { ref: false })]);
  }

  async #run(): Promise<void> {
    let nextScan = 0;
    while (!this.#isStopped) {
      const began = performance.now();
      const isScan = began >= nextScan;
      const journals = [...this.#committed].slice(0, MOST_WOKEN);
      this.#committed.clear();
      if (isScan) await this.#look(null);
      else if (journals.length > 0) await this.#look(journals);
      if (isScan) nextScan = performance.now() + Math.max(TICK_MS, (performance.now() - began) / SCAN_SHARE);
      if (this.#isIdle) await this.#sleep(nextScan - performance.now());
    }
  }

  get #isIdle(): boolean {
    return this.#committed.size === 0 && !this.#isStopped;
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, Math.max(ms, 1)).unref();
    });
  }

  async #look(journals: readonly string[] | null): Promise<void> {
    try {
      for await (const work of this.options.find(journals)) this.#enqueue(work);
    } catch (error) {
      this.options.logger.warn(
        { err: error },
        'the journals could not be read; they are read again in a moment',
      );
    }
  }

  #enqueue({ subscription, journals }: Work): void {
    const { name } = subscription;
    const waiting = this.#queue.get(name)?.journals ?? [];
    this.#queue.set(name, { subscription, journals: new Set([...waiting, ...journals]) });
    if (!this.#turns.has(name)) this.#turns.set(name, this.#takeTurns(subscription));
  }

  /** Serves a subscription until nothing is queued for it, in a place that it takes anew for each turn. */
  async #takeTurns({ name, share }: Subscription): Promise<void> {
    while (this.#queue.has(name) && !this.#isStopped)
      await this.options.places
        .run(
          share,
          () => this.#serve(name),
          () => FULL,
        )
        .catch(() => this.#queue.delete(name));
    this.#turns.delete(name);
  }

  async #serve(name: string): Promise<void> {
    const work = this.#queue.get(name);
    this.#queue.delete(name);
    if (!work || this.#isStopped) return;
    const { subscription, journals } = work;
    try {
      if (!(await this.subscriptions.leases.take(name))) return;
      const lease: { isHeld: boolean } = { isHeld: true };
      const renew = async (): Promise<void> => {
        // A renewal that fails is tried again before the lease is over.
        lease.isHeld = await this.subscriptions.leases.take(name).catch(() => lease.isHeld);
      };
      const renewal = setInterval(() => void renew(), RENEW_MS).unref();
      try {
        for (const journal of journals) {
          const hasMore = await this.#advance(subscription, journal, () => lease.isHeld && !this.#isStopped);
          if (hasMore) this.#enqueue({ subscription, journals: [journal] });
        }
      } finally {
        clearInterval(renewal);
        if (lease.isHeld) await this.subscriptions.leases.release(name);
      }
    } catch (error) {
      this.options.logger.warn(
        { err: error, subscription: name },
        'changes could not be brought; tried again in a moment',
      );
    }
  }

  /** Brings the next entries of a journal, for about the length of a turn; tells whether there are more. */
  async #advance(subscription: Subscription, journal: string, mayGoOn: () => boolean): Promise<boolean> {
    if (!mayGoOn()) return false;
    const news = await this.subscriptions.findNews(subscription.name, journal, subscription.wanted(journal));
    if (!news) return false;
    const { position, entries, end, hasMore } = news;
    const turnEnds = performance.now() + TURN_MS;
    let at: Position = position;
    for (const entry of entries) {
      if (!mayGoOn()) return false;
      if (performance.now() > turnEnds) return true;
      if (!(await this.#handle(subscription, position, at, entry))) return false;
      const to = entry === entries.at(-1) ? end : entry;
      if (!(await this.subscriptions.move(position, at, to))) return false;
      at = to;
    }
    if (entries.length === 0) await this.subscriptions.move(position, at, end);
    return hasMore;
  }

  async #handle(
    subscription: Subscription,
    position: TenantryPosition,
    at: Position,
    entry: TenantryChange,
  ): Promise<boolean> {
    const isFirst = at === position;
    const attempts = (isFirst ? position.attempts : 0) + 1;
    try {
      await subscription.handle(entry, attempts);
      return true;
    } catch (error) {
      // What was cut off by the stop comes again.
      if (this.#isStopped || error instanceof NotNow) return false;
      const now = this.subscriptions.clock.now();
      const since = (isFirst ? position.failingSince : null) ?? now;
      const forMs = now.getTime() - since.getTime();
      const wait = await subscription.failed(error, { entry, attempts, forMs });
      const retryAt = new Date(now.getTime() + wait);
      await this.subscriptions.postpone(position, at, { attempts, failingSince: since, retryAt });
      return false;
    }
  }
}
