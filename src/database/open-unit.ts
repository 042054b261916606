import type { EntityManager } from 'typeorm';
import { ChangeLog } from '../journal/change-log';
import type { Emit } from './domain-events';

/** A unit of work while its transaction is open. */
export class OpenUnit {
  /** Of the tenants that the unit has locked: the versions that it has raised their trees to. */
  readonly versions = new Map<string, number>();
  readonly changes = new ChangeLog();
  readonly #calls = new Set<Promise<unknown>>();
  #isOpen = true;

  constructor(
    readonly manager: EntityManager,
    readonly emit: Emit,
  ) {}

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A call that is part of the unit. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    // After it, statements would run without the lock.
    if (!this.#isOpen) throw new Error('The transaction is over.');
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** No call begins any more. Those that have begun are part of the unit, also when the host does not wait for them. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const ends = await Promise.allSettled(this.#calls);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}
