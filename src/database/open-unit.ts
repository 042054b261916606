import type { EntityManager } from 'typeorm';
import type { Emit } from './domain-events';

/** What a unit collects while its work runs, and writes right before the COMMIT. */
export interface UnitPart {
  beforeCommit(manager: EntityManager): Promise<void>;
}

/** A unit of work while its transaction is open. */
export class OpenUnit {
  readonly #parts = new Map<new () => UnitPart, UnitPart>();
  readonly #calls = new Set<Promise<unknown>>();
  #isOpen = true;

  constructor(
    readonly manager: EntityManager,
    readonly emit: Emit,
  ) {}

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The unit's one part of this class. */
  part<P extends UnitPart>(Part: new () => P): P {
    const part = this.#parts.get(Part) ?? new Part();
    this.#parts.set(Part, part);
    return part as P;
  }

  async writeParts(): Promise<void> {
    for (const part of this.#parts.values()) await part.beforeCommit(this.manager);
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
