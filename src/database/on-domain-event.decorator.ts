import type { EventType } from './domain-event';

const EVENTS = Symbol('domainEvents');

type HandlerDecorator<E> = <M extends (event: E) => unknown>(
  prototype: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/**
 * Calls a provider's method with every event of these classes, as `DomainEvents.on` does: after the COMMIT, in this
 * process, at most once. `@OnDomainEvent(DomainEvent)` hears all.
 */
export function OnDomainEvent<T extends readonly EventType[]>(
  ...types: T
): HandlerDecorator<InstanceType<T[number]>> {
  return (_, __, { value }) => {
    if (value) Reflect.defineMetadata(EVENTS, [...eventsOf(value), ...types], value);
  };
}

/** The events that a method asks for. */
export function eventsOf(method: object): readonly EventType[] {
  return (Reflect.getMetadata(EVENTS, method) as readonly EventType[] | undefined) ?? [];
}
