import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DomainEvents } from './domain-events';
import { eventsOf } from './on-domain-event.decorator';

type Method = (event: unknown) => unknown;

/** Finds the methods with `@OnDomainEvent` in all of the host's providers and controllers, once they are made. */
@Injectable()
export class EventSubscriber implements OnModuleInit {
  readonly #scanner = new MetadataScanner();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    const seen = new Set<object>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const instance: unknown = wrapper.instance;
      // One instance may be provided under several names.
      if (typeof instance !== 'object' || instance === null || seen.has(instance)) continue;
      seen.add(instance);
      this.#subscribe(instance, wrapper.isDependencyTreeStatic() && !wrapper.isTransient);
    }
  }

  #subscribe(instance: object, isThereForAll: boolean): void {
    const prototype = Object.getPrototypeOf(instance) as Record<string, Method> | null;
    for (const name of this.#scanner.getAllMethodNames(prototype)) {
      const method = prototype?.[name];
      for (const type of method ? eventsOf(method) : []) {
        // Silence would be worse: nobody would ever call it.
        if (!isThereForAll)
          throw new Error(
            `${instance.constructor.name}.${name} hears no events: it is made anew for each use.`,
          );
        this.events.on(type, (event) => method?.call(instance, event));
      }
    }
  }
}
