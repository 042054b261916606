import type { DomainEvent, EventType } from './domain-event';

const EVENTS = Symbol('domainEvents');

/**
 * Calls a provider's method with every event of these classes, as `DomainEvents.on` does: after the COMMIT, in this
 * process, at most once. `@OnDomainEvent(DomainEvent)` hears all.
 */
export function OnDomainEvent<E extends DomainEvent>(...types: EventType<E>[]) {
  return (
    _: object,
    __: string | symbol,
    { value }: TypedPropertyDescriptor<(event: E) => unknown>,
  ): void => {
    if (value) Reflect.defineMetadata(EVENTS, [...eventsOf(value), ...types], value);
  };
}

/** The events that a method asks for. */
export function eventsOf(method: object): readonly EventType[] {
  return (Reflect.getMetadata(EVENTS, method) as readonly EventType[] | undefined) ?? [];
}
