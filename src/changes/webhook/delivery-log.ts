import type { Logger } from '@nestjs/common';
import type { Delivery, WebhookRepository } from './webhook.repository';

/** Rows of one statement; few lengths make few statements to prepare. */
const MOST = 20;

/**
 * Notes deliveries beside the sending. What comes while one statement is under way goes into the next, so that a webhook that
 * catches up does not wait for a commit more with each message.
 */
export class DeliveryLog {
  readonly #waiting: Delivery[] = [];
  #writing: Promise<void> | undefined;

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly logger: Logger,
  ) {}

  add(delivery: Delivery): void {
    this.#waiting.push(delivery);
    this.#writing ??= this.#write();
  }

  /** Resolves when all is noted. */
  async end(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, MOST);
      // One by one where it fails: one of the webhooks may be deleted.
      await this.webhooks.addDeliveries(some).catch(() => this.#writeEach(some));
    }
    this.#writing = undefined;
  }

  async #writeEach(deliveries: readonly Delivery[]): Promise<void> {
    for (const delivery of deliveries)
      await this.webhooks.addDeliveries([delivery]).catch((error: unknown) => {
        const { webhookId, messageId } = delivery;
        this.logger.warn({ webhookId, messageId, err: error }, 'a delivery could not be noted');
      });
  }
}
