import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DomainEvents } from '../database/domain-events';
import { HttpErrors } from '../errors/http.errors';
import { Refusal } from '../errors/refusal';
import type { Idle } from '../web/request';
import { ChangeReader } from './change-reader.repository';
import { JournalErrors } from './journal.errors';

/** How often the database is asked for commits of other processes, in one statement for all that wait. */
const POLL_MS = 400;
/** How many requests may wait for changes, in all and for one tenant. */
const MOST = { all: 1000, tenant: 100 };

interface Waiter {
  readonly tenantIds: readonly string[];
  /** Whether something was committed since the waiter last looked. */
  isWoken: boolean;
  wake: () => void;
}

/** Requests that wait until something is committed in a tenant, in this process or in another. */
@Injectable()
export class ChangeWaiters implements OnModuleDestroy {
  readonly #logger = new Logger('Journal');
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** What the database said last. */
  #versions = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  readonly #endListening: () => void;

  constructor(
    events: DomainEvents,
    private readonly reader: ChangeReader,
  ) {
    this.#endListening = events.onCommit((tenantIds) => {
      for (const tenantId of tenantIds) this.#wake(tenantId);
    });
  }

  get count(): number {
    return this.#count;
  }

  /** A stop ends all waits at once. */
  onModuleDestroy(): void {
    this.#isStopped = true;
    this.#endListening();
    clearTimeout(this.#timer);
    for (const tenantId of this.#waiters.keys()) this.#wake(tenantId);
  }

  /**
   * Calls `look` until it finds something, each time something was committed in one of these tenants, the first of which is
   * the caller's; at most for so long, and not for a client that has gone. Gives what `look` gave last.
   */
  async until<T>(
    tenantIds: readonly string[],
    look: () => Promise<{ readonly found: boolean; readonly result: T }>,
    milliseconds: number,
    idle: Idle,
  ): Promise<T> {
    const waiter: Waiter = { tenantIds, isWoken: false, wake: () => undefined };
    this.#add(waiter);
    const deadline = performance.now() + milliseconds;
    let hasWaited = false;
    try {
      for (;;) {
        // Before it looks: what is committed while it looks wakes it again.
        waiter.isWoken = false;
        const { found, result } = await look();
        const left = deadline - performance.now();
        if (found || left <= 0 || idle.signal.aborted || this.#isStopped) {
          // After it has looked: it must not see what has happened since the right to see it has ended.
          if (hasWaited) await idle.checkAgain();
          return result;
        }
        if (!(await this.#idle(waiter, left, idle))) return result;
        hasWaited = true;
      }
    } finally {
      this.#remove(waiter);
    }
  }

  /** Waits until something was committed and there is a place to look for it; false when the time is over before there is one. */
  async #idle(waiter: Waiter, milliseconds: number, idle: Idle): Promise<boolean> {
    const deadline = performance.now() + milliseconds;
    let wait = () => this.#wait(waiter, milliseconds, idle.signal);
    for (;;) {
      try {
        await idle.during(wait);
        return true;
      } catch (error) {
        // An overloaded service lets its followers wait on; they lose nothing by it.
        const left = deadline - performance.now();
        if (!isOverloaded(error)) throw error;
        if (left <= 0 || idle.signal.aborted || this.#isStopped) return false;
        wait = () => sleep(Math.min(POLL_MS, left));
      }
    }
  }

  async #wait(waiter: Waiter, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (waiter.isWoken) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end);
      waiter.wake = end;
    });
    waiter.wake = () => undefined;
  }

  #add(waiter: Waiter): void {
    const [own = ''] = waiter.tenantIds;
    if (this.#count >= MOST.all || (this.#waiters.get(own)?.size ?? 0) >= MOST.tenant)
      throw JournalErrors.TOO_MANY_FOLLOWERS();
    this.#count += 1;
    for (const tenantId of waiter.tenantIds) {
      const others = this.#waiters.get(tenantId) ?? new Set();
      this.#waiters.set(tenantId, others.add(waiter));
    }
    this.#timer ??= setTimeout(() => void this.#poll(), POLL_MS).unref();
  }

  #remove(waiter: Waiter): void {
    this.#count -= 1;
    for (const tenantId of waiter.tenantIds) {
      const others = this.#waiters.get(tenantId);
      others?.delete(waiter);
      if (others?.size === 0) this.#waiters.delete(tenantId);
    }
  }

  #wake(tenantId: string): void {
    for (const waiter of this.#waiters.get(tenantId) ?? []) {
      waiter.isWoken = true;
      waiter.wake();
    }
  }

  async #poll(): Promise<void> {
    const tenantIds = [...this.#waiters.keys()];
    try {
      const versions = new Map<string, number>();
      for (const [tenantId, { version }] of await this.reader.statesOf(tenantIds)) {
        const before = this.#versions.get(tenantId);
        versions.set(tenantId, version);
        if (version !== before) this.#wake(tenantId);
      }
      this.#versions = versions;
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not look for changes; it is tried again');
    }
    const goesOn = this.#waiters.size > 0 && !this.#isStopped;
    this.#timer = goesOn ? setTimeout(() => void this.#poll(), POLL_MS).unref() : undefined;
  }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof Refusal && error.row === HttpErrors.OVERLOADED.row;
}
