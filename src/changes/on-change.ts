import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { FairQueue } from '../concurrency/fair-queue';
import { backoff } from '../concurrency/retry';
import { CHANGE_KINDS, type TenantryChange, type ChangeKind } from '../journal/change-log';
import { decoratedMethods, type HandlerDecorator } from '../database/domain-events';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { ZonedTime } from '../time/zoned-time';
import { toChangeView } from '../journal/change-view';
import type { ChangeDto } from '../web/change.dto';
import { ChangeDispatcher, type Failure, type Subscription, type Work } from './change-dispatcher';
import { SubscriptionRepository } from './subscription.repository';

export interface OnChangeOptions {
  /** Its position is kept under this name: up to 60 letters, digits, `-`, `_` and `.`; another name begins anew. */
  readonly name: string;
  /** Default: all kinds. */
  readonly kinds?: readonly ChangeKind[];
}

const OPTIONS = Symbol('onChange');
const NAME = /^[\w.-]{1,60}$/;
const BACKOFF = { first: 1000, most: 60_000 };

/**
 * Calls a provider's method with every change of every tenant, in the order of each tenant's journal, at least once, in one
 * process at a time. A new name begins with the oldest change that is kept. When the method throws, the same change comes again
 * after a while, and later ones of its tenant wait.
 */
export function OnChange(options: OnChangeOptions): HandlerDecorator<ChangeDto> {
  return (_, __, { value }) => {
    if (value) Reflect.defineMetadata(OPTIONS, options, value);
  };
}

/** Finds the methods with `@OnChange` in all of the host's providers and controllers, and brings them the changes. */
@Injectable()
export class ChangeHandlers implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('OnChange');
  readonly #dispatcher: ChangeDispatcher;
  readonly #handlers = new Map<string, Subscription>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly subscriptions: SubscriptionRepository,
    private readonly time: ZonedTime,
  ) {
    const find = (journals: readonly string[] | null) => this.#find(journals);
    const places = new FairQueue({ inWork: Infinity, waiting: 0 });
    this.#dispatcher = new ChangeDispatcher(subscriptions, { find, places, logger: this.#logger });
  }

  onApplicationBootstrap(): void {
    const methods = decoratedMethods<OnChangeOptions>(this.discovery, OPTIONS);
    for (const { mark, where, isSingleton, call } of methods) {
      const { name, kinds = CHANGE_KINDS } = mark;
      if (!isSingleton) throw new Error(`${where} gets no changes: it is made anew for each use.`);
      if (!NAME.test(name))
        throw new Error(`${where} needs a name of 1 to 60 letters, digits, '-', '_' and '.'.`);
      if (this.#handlers.has(name)) throw new Error(`${where}: there is another @OnChange named '${name}'.`);
      this.#handlers.set(name, this.#subscription(name, kinds, call));
    }
    if (this.#handlers.size > 0) this.#dispatcher.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.#dispatcher.stop();
  }

  async *#find(journals: readonly string[] | null): AsyncGenerator<Work, void> {
    for (const subscription of this.#handlers.values()) {
      const due = await this.subscriptions.findDueJournals(subscription.name, journals);
      if (due.length > 0) yield { subscription, journals: due };
    }
  }

  #subscription(
    handler: string,
    kinds: readonly ChangeKind[],
    call: (change: ChangeDto) => unknown,
  ): Subscription {
    return {
      name: `handler:${handler}`,
      share: handler,
      wanted: () => ({ kinds }),
      handle: async (entry: TenantryChange) => {
        await call(toChangeView(entry, this.time, PLATFORM_TENANT));
      },
      failed: (error: unknown, { entry, attempts }: Failure) => {
        const { tenantId, version, seq } = entry;
        const which = { handler, tenantId, version, seq, attempts };
        this.#logger.error({ err: error, ...which }, 'a handler of changes failed; it is tried again');
        return Promise.resolve(backoff(attempts, BACKOFF));
      },
    };
  }
}
