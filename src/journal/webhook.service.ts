import { Injectable } from '@nestjs/common';
import { CHANGE_KINDS } from '../database/change-log';
import type { IdempotentRequest } from '../database/idempotent-request';
import { HttpErrors } from '../errors/http.errors';
import type { RequestContext } from '../tenancy/request-context';
import { ZonedTime } from '../time/zoned-time';
import { Cursors, type PageView } from '../web/page';
import type { PageQuery } from '../web/page-query.dto';
import type { DeliveryEntity, WebhookEntity } from './subscription.entity';
import { newSecret, WebhookSender } from './webhook-sender';
import type {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeliveryDto,
  UpdateWebhookDto,
  WebhookDto,
} from './webhook.dto';
import { WebhookErrors } from './webhook.errors';
import { kindsOf, WebhookRepository, type WebhookFields } from './webhook.repository';

const MOST_HOOKS = 20;
/** A ping waits for its receiver, and requests that wait take the places of others. */
const MOST_PINGS = 4;

/** The rules of webhooks. */
@Injectable()
export class WebhookService {
  #pings = 0;

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly cursors: Cursors,
    private readonly time: ZonedTime,
  ) {}

  async get(ctx: RequestContext, webhookId: number): Promise<WebhookDto> {
    return toWebhookDto(await this.#find(ctx, webhookId), this.time);
  }

  /** A page of the tenant's webhooks, in the order of ids. */
  async list(ctx: RequestContext, query: PageQuery): Promise<PageView<WebhookDto>> {
    const page = await this.cursors.page(['webhook', ctx.tenantId], query, (after, limit) =>
      this.webhooks.findPage(ctx, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toWebhookDto(row, this.time)) };
  }

  /** A page of what was sent to a webhook, the newest first. */
  async deliveries(ctx: RequestContext, webhookId: number, query: PageQuery): Promise<PageView<DeliveryDto>> {
    await this.#find(ctx, webhookId);
    const page = await this.cursors.page(['delivery', ctx.tenantId, webhookId], query, (after, limit) =>
      this.webhooks.findDeliveries(ctx, webhookId, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toDeliveryDto(row, this.time)) };
  }

  async create(
    ctx: RequestContext,
    dto: CreateWebhookDto,
    once?: IdempotentRequest,
  ): Promise<CreatedWebhookDto> {
    await this.sender.checkUrl(dto.url);
    const secret = newSecret();
    return this.webhooks.transaction(
      ctx,
      async (hooks) => {
        if (await hooks.hasMoreThan(MOST_HOOKS - 1)) throw WebhookErrors.LIMIT();
        return { id: await hooks.add(toFields(dto), secret), secret };
      },
      once,
    );
  }

  /** Replaces a webhook; its secret stays, and it goes on where it was. */
  async update(ctx: RequestContext, dto: UpdateWebhookDto): Promise<void> {
    await this.#find(ctx, dto.webhookId);
    await this.sender.checkUrl(dto.url);
    await this.webhooks.transaction(ctx, async (hooks) => {
      if (!(await hooks.replace(dto.webhookId, toFields(dto)))) throw WebhookErrors.NOT_FOUND();
    });
  }

  async delete(ctx: RequestContext, webhookId: number): Promise<void> {
    await this.webhooks.transaction(ctx, async (hooks) => {
      if (!(await hooks.delete(webhookId))) throw WebhookErrors.NOT_FOUND();
    });
  }

  /** Sends a message of the type `ping` now, also to a webhook that is disabled. */
  async ping(ctx: RequestContext, webhookId: number): Promise<DeliveryDto> {
    const hook = await this.#find(ctx, webhookId);
    if (this.#pings >= MOST_PINGS) throw HttpErrors.OVERLOADED();
    this.#pings += 1;
    try {
      const sent = await this.sender.ping(hook);
      await this.webhooks.addDelivery(hook, 1, sent);
      return toDeliveryDto({ attempt: 1, ...sent }, this.time);
    } finally {
      this.#pings -= 1;
    }
  }

  async #find(ctx: RequestContext, webhookId: number): Promise<WebhookEntity> {
    const hook = await this.webhooks.find(ctx, webhookId);
    if (!hook) throw WebhookErrors.NOT_FOUND();
    return hook;
  }
}

/** What was not sent becomes its default. */
function toFields({ url, kinds, status }: CreateWebhookDto): WebhookFields {
  const wanted = CHANGE_KINDS.filter((kind) => !kinds || kinds.includes(kind));
  return { url, kinds: wanted.join(','), status: status ?? '0' };
}

function toWebhookDto(row: WebhookEntity, time: ZonedTime): WebhookDto {
  const { webhookId, url, status, reason, createBy, createTime, updateBy, updateTime } = row;
  return {
    ...{ webhookId, url, kinds: kindsOf(row), status, reason, createBy, createTime: time.format(createTime) },
    ...{ updateBy, updateTime: time.formatOrNull(updateTime) },
  };
}

function toDeliveryDto(
  row: Omit<DeliveryEntity, 'deliveryId' | 'tenantId' | 'webhookId'>,
  time: ZonedTime,
): DeliveryDto {
  const { messageId, attempt, statusCode, error, durationMs, sentAt } = row;
  return { messageId, attempt, statusCode, error, durationMs, time: time.format(sentAt) };
}
