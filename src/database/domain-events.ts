import { Injectable, Logger } from '@nestjs/common';
import type { DomainEvent, EventType } from './domain-event';

interface Subscription {
  readonly type: EventType;
  readonly handler: (event: never) => unknown;
}

/**
 * Tells what has happened to whoever wants to know, in this process, at most once, after the COMMIT: a unit that is
 * rolled back or replayed tells nothing of its vain tries, and units of one tenant tell in the order of their commits.
 */
@Injectable()
export class DomainEvents {
  readonly #logger = new Logger('DomainEvents');
  readonly #subscriptions = new Set<Subscription>();

  /** Whether there is anybody to tell of this. */
  isHeard(event: DomainEvent): boolean {
    for (const { type } of this.#subscriptions) if (event instanceof type) return true;
    return false;
  }

  /**
   * Calls `handler` with every event of this class, or of one below it, from now on; gives a function that ends it.
   * The one whose request it was waits for the handler, but not for a promise that it gives. What it throws or
   * rejects with is logged, and touches nobody else.
   */
  on<E extends DomainEvent>(type: EventType<E>, handler: (event: E) => unknown): () => void {
    // An import in a circle gives undefined; better now than after somebody's COMMIT.
    if (typeof type !== 'function') throw new Error('There is no such class of events.');
    const subscription = { type, handler };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  /** For the unit of work alone: these events are committed. */
  tell(events: readonly DomainEvent[]): void {
    for (const event of events) {
      for (const subscription of [...this.#subscriptions]) {
        const { type, handler } = subscription;
        if (event instanceof type && this.#subscriptions.has(subscription)) this.#call(handler, event);
      }
    }
  }

  #call(handler: Subscription['handler'], event: DomainEvent): void {
    const complain = (error: unknown): void => {
      this.#logger.error({ err: error, event: event.constructor.name }, 'a handler of events failed');
    };
    try {
      Promise.resolve(handler(event as never)).catch(complain);
    } catch (error) {
      complain(error);
    }
  }
}
