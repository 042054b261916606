import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

/**
 * Something that has happened to a tenant's data, and is committed. Events are emitted at most once, and only in the
 * process that did it: a listener that must not miss one reads the data itself from time to time.
 */
export abstract class DomainEvent {
  constructor(
    readonly tenantId: string,
    readonly by: string,
  ) {}
}

/** The class of an event; `DomainEvent` itself stands for all of them. */
export type EventType<E extends DomainEvent = DomainEvent> = abstract new (...args: never[]) => E;

/** Notes an event of a unit of work, to be emitted once the unit is committed. */
export type Emit = (event: DomainEvent) => void;

interface Listener {
  readonly type: EventType;
  readonly handler: (event: never) => unknown;
}

/**
 * Emits what has happened, in this process, at most once, after the COMMIT: a unit that is rolled back or replayed emits
 * nothing of its failed tries, and units of one tenant emit in the order of their commits.
 */
@Injectable()
export class DomainEvents {
  readonly #logger = new Logger('DomainEvents');
  readonly #listeners = new Set<Listener>();

  hasListener(event: DomainEvent): boolean {
    for (const { type } of this.#listeners) if (event instanceof type) return true;
    return false;
  }

  /**
   * Calls `handler` with every event of this class, or of one below it, from now on; gives a function that ends it.
   * The request that caused the event waits for the handler, but not for a promise that it gives. What it throws or
   * rejects with is logged, and touches no other handler.
   */
  on<E extends DomainEvent>(type: EventType<E>, handler: (event: E) => unknown): () => void {
    // A circular import gives undefined; better now than after a COMMIT.
    if (typeof type !== 'function') throw new Error('There is no such class of events.');
    const listener = { type, handler };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** For the unit of work alone: this is committed, and these are its events. */
  emit(events: readonly DomainEvent[]): void {
    for (const event of events) {
      for (const listener of [...this.#listeners]) {
        const { type, handler } = listener;
        if (event instanceof type && this.#listeners.has(listener)) this.#call(handler, event);
      }
    }
  }

  #call(handler: Listener['handler'], event: DomainEvent): void {
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

const EVENTS = Symbol('domainEvents');

export type HandlerDecorator<E> = <M extends (event: E) => unknown>(
  prototype: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/**
 * Calls a provider's method with every event of these classes, as `DomainEvents.on` does: after the COMMIT, in this
 * process, at most once. `@OnDomainEvent(DomainEvent)` listens to all.
 */
export function OnDomainEvent<T extends readonly EventType[]>(
  ...types: T
): HandlerDecorator<InstanceType<T[number]>> {
  return (_, __, { value }) => {
    if (value) Reflect.defineMetadata(EVENTS, [...marksOf(value, EVENTS), ...types], value);
  };
}

function marksOf(method: object, key: string | symbol): readonly unknown[] {
  return [(Reflect.getMetadata(key, method) as unknown) ?? []].flat();
}

type Method = (argument: unknown) => unknown;

/** A method with a mark that a decorator has left on it. */
interface DecoratedMethod<T> {
  readonly mark: T;
  /** For errors: `SearchIndex.onChange` */
  readonly where: string;
  readonly isSingleton: boolean;
  readonly call: Method;
}

/** The methods of all providers and controllers with marks, one or several, under this key of their metadata. */
export function decoratedMethods<T>(discovery: DiscoveryService, key: string | symbol): DecoratedMethod<T>[] {
  const scanner = new MetadataScanner();
  const seen = new Set<object>();
  return [...discovery.getProviders(), ...discovery.getControllers()].flatMap((wrapper) => {
    const instance: unknown = wrapper.instance;
    // One instance may be provided under several names.
    if (typeof instance !== 'object' || instance === null || seen.has(instance)) return [];
    seen.add(instance);
    const isSingleton = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
    const prototype = Object.getPrototypeOf(instance) as Record<string, Method> | null;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const method = prototype?.[name];
      const call: Method = (argument) => method?.call(instance, argument);
      const marks = method ? (marksOf(method, key) as T[]) : [];
      // Only of those with marks: a host may have providers that allow no look at their fields outside of a request.
      return marks.map((mark) => ({
        mark,
        where: `${instance.constructor.name}.${name}`,
        isSingleton,
        call,
      }));
    });
  });
}

/** Finds the methods with `@OnDomainEvent` in all of the host's providers and controllers, once they are made. */
@Injectable()
export class EventSubscriber implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    for (const { mark, where, isSingleton, call } of decoratedMethods<EventType>(this.discovery, EVENTS)) {
      if (!isSingleton) throw new Error(`${where} hears no events: it is made anew for each use.`);
      this.events.on(mark, call);
    }
  }
}
