/**
 * Something that has happened to a tenant's data, and is committed. Events are told at most once, and only in the
 * process that did it: whoever must not miss one reads the data itself from time to time.
 */
export abstract class DomainEvent {
  constructor(
    readonly tenantId: string,
    /** Who did it: the user name. */
    readonly by: string,
  ) {}
}

/** The class of an event; `DomainEvent` itself stands for all of them. */
export type EventType<E extends DomainEvent = DomainEvent> = abstract new (...args: never[]) => E;

/** Notes an event of a unit of work, to be told once the unit is committed. */
export type Emit = (event: DomainEvent) => void;
