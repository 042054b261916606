import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FairQueue } from '../../concurrency/fair-queue';
import { backoff } from '../../concurrency/retry';
import { followedBy } from '../../journal/change-reader.repository';
import { TenantAdmission } from '../../tenancy/tenant-access';
import { ChangeDispatcher, NotNow, type Failure, type Subscription, type Work } from '../change-dispatcher';
import { DeliveryLog } from './delivery-log';
import { SubscriptionRepository, type DueWebhook } from '../subscription.repository';
import { isDelivered, WebhookSender, type DeliveryResult } from './webhook-sender';
import { kindsOf, subscriptionOf, WebhookRepository } from './webhook.repository';

/**
 * How many webhooks are sent to at the same time, to each of them one message after the other. A top-level tenant and all below it
 * have a quarter of the places: receivers that hang delay the webhooks of their own branch alone.
 */
const PLACES = { inWork: 64, waiting: 1000, share: 1 / 4 };
const HOUR_MS = 60 * 60 * 1000;
const BACKOFF = { first: 1000, factor: 4, most: 4 * HOUR_MS };
/** After so long without a delivery a webhook is disabled, if so many tries have failed: it may have been its tenant that was away. */
const GIVE_UP_MS = 48 * HOUR_MS;
const FEWEST_TRIES = 10;

class NotDelivered extends Error {
  constructor({ statusCode, error }: DeliveryResult) {
    super(String(statusCode ?? error));
  }
}

/** Sends changes to webhooks. */
@Injectable()
export class WebhookWorker implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Webhooks');
  readonly #dispatcher: ChangeDispatcher;
  readonly #deliveries: DeliveryLog;
  /** As of the last look through all of them: without any, commits need not be looked at. */
  #hasActive = false;

  constructor(
    private readonly subscriptions: SubscriptionRepository,
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly admission: TenantAdmission,
  ) {
    const find = (journals: readonly string[] | null) => this.#find(journals);
    const places = new FairQueue(PLACES);
    this.#deliveries = new DeliveryLog(webhooks, this.#logger);
    this.#dispatcher = new ChangeDispatcher(subscriptions, { find, places, logger: this.#logger });
  }

  onApplicationBootstrap(): void {
    this.#dispatcher.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.#dispatcher.stop();
    await this.#deliveries.end();
  }

  async *#find(journals: readonly string[] | null): AsyncGenerator<Work, void> {
    if (journals === null) this.#hasActive = await this.webhooks.hasActive();
    if (!this.#hasActive) return;
    for await (const due of this.subscriptions.findDueWebhooks(journals))
      yield { subscription: this.#subscription(due), journals: [due.journal] };
  }

  #subscription(hook: DueWebhook): Subscription {
    const { webhookId, tenantId } = hook;
    const follows = followedBy(tenantId, kindsOf(hook));
    return {
      name: subscriptionOf(webhookId),
      share: hook.topTenantId,
      wanted: (journal) => follows.find((each) => each.journal === journal) ?? { kinds: [] },
      handle: async (entry, attempt) => {
        // Its address may be another by now.
        const current = await this.webhooks.findActive(webhookId);
        if (!current) throw new NotNow('It was disabled or deleted since it was found.');
        await this.admission.admit(tenantId).catch((cause: unknown) => {
          throw new NotNow('Its tenant is not served.', { cause });
        });
        const sent = await this.sender.sendChange(current, entry);
        this.#deliveries.add({ webhookId, tenantId, attempt, ...sent });
        if (!isDelivered(sent)) throw new NotDelivered(sent);
      },
      failed: async (error, { attempts, forMs }: Failure) => {
        const told = { webhookId, tenantId, attempts, err: error };
        if (error instanceof NotDelivered && forMs >= GIVE_UP_MS && attempts >= FEWEST_TRIES) {
          this.#logger.error(told, 'a webhook is disabled: nothing could be delivered to it for two days');
          await this.webhooks.disable(
            hook,
            `Nothing could be delivered for two days; at last: ${error.message}`,
          );
        } else this.#logger.warn(told, 'a webhook could not be delivered; it is tried again');
        return backoff(attempts, BACKOFF);
      },
    };
  }
}
