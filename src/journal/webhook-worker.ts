import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { ChangeEntity } from '../database/change-log';
import { HourlyCleaner } from '../database/hourly-cleaner';
import { Meter } from '../database/meter';
import { ZonedTime } from '../time/zoned-time';
import { toChangeDto } from '../web/change-view';
import {
  ChangeDispatchers,
  growingWait,
  type ChangeDispatcher,
  type Failure,
  type Subscription,
  type Work,
} from './change-dispatcher';
import type { WebhookEntity } from './subscription.entity';
import { isDelivered, WebhookSender, type Message, type Outcome } from './webhook-sender';
import { subscriptionOf, wantedIn, WebhookRepository } from './webhook.repository';

/** How many webhooks are sent to at the same time; to each of them one message after the other. */
const AT_ONCE = 32;
const HOUR_MS = 60 * 60 * 1000;
const LONGEST_WAIT_MS = 4 * HOUR_MS;
/** After so long without a delivery a webhook is disabled. */
const GIVE_UP_MS = 48 * HOUR_MS;

class NotDelivered extends Error {
  constructor({ statusCode, error }: Outcome) {
    super(String(statusCode ?? error));
  }
}

/** It was disabled or deleted since it was found. */
class NotActive extends Error {}

/** Sends changes to webhooks. */
@Injectable()
export class WebhookWorker implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Webhooks');
  readonly #dispatcher: ChangeDispatcher;
  /** As of the last look through all of them: without any, commits need not be looked at. */
  #hasActive = false;

  constructor(
    private readonly dispatchers: ChangeDispatchers,
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly time: ZonedTime,
  ) {
    const find = (journals: readonly string[] | null) => this.#find(journals);
    this.#dispatcher = dispatchers.create({ find, atOnce: AT_ONCE, logger: this.#logger });
  }

  onApplicationBootstrap(): void {
    this.#dispatcher.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.#dispatcher.stop();
  }

  async #find(journals: readonly string[] | null): Promise<Work[]> {
    if (journals === null) this.#hasActive = await this.webhooks.hasActive();
    if (!this.#hasActive) return [];
    const due = await this.dispatchers.subscriptions.findDueWebhooks(journals);
    if (due.length === 0) return [];
    const hooks = await this.webhooks.findActive([...new Set(due.map(({ webhookId }) => webhookId))]);
    return hooks.map((hook) => ({
      subscription: this.#subscription(hook),
      journals: due.filter(({ webhookId }) => webhookId === hook.webhookId).map(({ journal }) => journal),
    }));
  }

  #subscription(hook: WebhookEntity): Subscription {
    const { webhookId, tenantId } = hook;
    return {
      name: subscriptionOf(webhookId),
      wanted: (journal) => wantedIn(hook, journal),
      handle: async (entry, attempt) => {
        // Its address may be another by now.
        const [current] = await this.webhooks.findActive([webhookId]);
        if (!current) throw new NotActive();
        const message = this.#messageOf(entry, current);
        const outcome = await this.sender.send(current, message);
        await this.webhooks.addDelivery(current, message.id, attempt, outcome);
        if (!isDelivered(outcome)) throw new NotDelivered(outcome);
      },
      failed: async (error, { attempts, forMs }: Failure) => {
        if (error instanceof NotActive) return 0;
        const told = { webhookId, tenantId, attempts, err: error };
        if (error instanceof NotDelivered && forMs >= GIVE_UP_MS) {
          this.#logger.error(told, 'a webhook is disabled: nothing could be delivered to it for two days');
          await this.webhooks.disable(
            hook,
            `Nothing could be delivered for two days; at last: ${error.message}`,
          );
        } else this.#logger.warn(told, 'a webhook could not be delivered; it is tried again');
        return growingWait(attempts, 4, LONGEST_WAIT_MS);
      },
    };
  }

  #messageOf(entry: ChangeEntity, { webhookId, tenantId }: WebhookEntity): Message {
    const { tenantId: journal, version, seq, kind, operation, happenedAt } = entry;
    return {
      id: `msg_${journal}_${version}_${seq}_${webhookId}`,
      type: `${kind}.${operation}`,
      timestamp: happenedAt,
      data: toChangeDto(entry, this.time, tenantId),
    };
  }
}

/** Removes deliveries that are older than 30 days. */
@Injectable()
export class DeliveryCleaner extends HourlyCleaner {
  constructor(meter: Meter, webhooks: WebhookRepository) {
    super(meter, { deliveries: webhooks });
  }
}
