import { Injectable } from '@nestjs/common';
import { FairQueue } from '../../concurrency/fair-queue';
import { CHANGE_KINDS } from '../../journal/change-log';
import { STAMPS } from '../../database/audited';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { RequestContext } from '../../tenancy/request-context';
import { ZonedTime } from '../../time/zoned-time';
import { mergePatch, namesOf, pick, viewOf, withDefaults } from '../../resource/fields';
import { PagedList, type PageView } from '../../database/page';
import type { PageQuery } from '../../web/page-query.dto';
import { NOT_A_REQUEST, type Idle } from '../../web/work-place';
import { refuseStale, withRevision, type Expected } from '../../database/revision';
import type { TenantryDelivery, TenantryWebhook } from '../subscription.entity';
import { digestOf, newSecret } from './webhook-secret';
import { WebhookSender, type Sent } from './webhook-sender';
import type {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeliveryDto,
  PatchWebhookDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookSecretDto,
} from './webhook.dto';
import { WebhookErrors } from './webhook.errors';
import { kindsOf, WebhookRepository, type LockedWebhooks, type WebhookFields } from './webhook.repository';

const WEBHOOKS = new PagedList('webhook', ['long']);
const DELIVERIES = new PagedList('delivery', ['long']);
const MOST_HOOKS = 20;
/** The fields with their defaults; the address has none. */
const WEBHOOK_DEFAULTS: Omit<WebhookFields, 'url'> = { kinds: CHANGE_KINDS.join(','), status: '0' };
const WEBHOOK_FIELDS = ['url', ...namesOf(WEBHOOK_DEFAULTS)] as const;
const VIEWED = ['webhookId', ...WEBHOOK_FIELDS, 'reason', ...STAMPS] as const;
/** Requests of this process that wait for name servers, and for receivers: a quarter of a top-level tenant and all below it. */
const OUTSIDE = { inWork: 16, share: 1 / 4 };
const LOOKUPS = { ...OUTSIDE, waiting: 64, waitMs: 3000 };
const SENDINGS = { ...OUTSIDE, waiting: 0 };

/** The rules of webhooks. */
@Injectable()
export class WebhookService {
  readonly #lookups = new FairQueue(LOOKUPS);
  readonly #sendings = new FairQueue(SENDINGS);

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly time: ZonedTime,
  ) {}

  async get(ctx: RequestContext, webhookId: number): Promise<WebhookDto> {
    const hook = await this.#find(ctx, webhookId);
    return withRevision(toWebhookDto(hook, this.time), hook.revision);
  }

  /** A page of the tenant's webhooks, in the order of ids. */
  async list(ctx: RequestContext, query: PageQuery): Promise<PageView<WebhookDto>> {
    const page = await WEBHOOKS.page([ctx.tenantId], query, (after, limit) =>
      this.webhooks.in(ctx).findPage(after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toWebhookDto(row, this.time)) };
  }

  /** A page of what was sent to a webhook, the newest first. */
  async deliveries(ctx: RequestContext, webhookId: number, query: PageQuery): Promise<PageView<DeliveryDto>> {
    await this.#find(ctx, webhookId);
    const page = await DELIVERIES.page([ctx.tenantId, webhookId], query, (after, limit) =>
      this.webhooks.in(ctx).findDeliveries(webhookId, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toDeliveryDto(row, this.time)) };
  }

  /** Gives the secret, but not to a repeated request. */
  async create(
    ctx: RequestContext,
    dto: CreateWebhookDto,
    once?: IdempotentRequest,
    idle = NOT_A_REQUEST,
  ): Promise<CreatedWebhookDto> {
    await this.#checkUrl(ctx, dto.url, idle);
    const secret = newSecret();
    const own = digestOf(secret);
    const add = async (hooks: LockedWebhooks) => {
      if (await hooks.hasMoreThan(MOST_HOOKS - 1)) throw WebhookErrors.LIMIT();
      return { id: await hooks.add(toFields(dto), secret), digest: own };
    };
    // This is kept for repeated requests, so it has no secret.
    const { id, digest } = await this.webhooks.transaction(ctx, add, once);
    return digest === own ? { id, secret } : { id };
  }

  /** Replaces a webhook; its secret stays, and it goes on where it was. Gives its new revision. */
  update(
    ctx: RequestContext,
    dto: UpdateWebhookDto,
    expected?: Expected,
    idle = NOT_A_REQUEST,
  ): Promise<number> {
    return this.#change(ctx, dto, expected, idle, () => dto);
  }

  /** Changes what the patch names, and resets what it sets to null; otherwise as `update` does. */
  patch(
    ctx: RequestContext,
    webhookId: number,
    patch: PatchWebhookDto,
    expected?: Expected,
    idle = NOT_A_REQUEST,
  ): Promise<number> {
    const { url, ...choices } = patch;
    return this.#change(ctx, { webhookId, url }, expected, idle, (hook) => {
      const before = { ...pick(hook, WEBHOOK_FIELDS), kinds: kindsOf(hook) };
      return { ...mergePatch(before, choices), url: url ?? hook.url };
    });
  }

  async delete(ctx: RequestContext, webhookId: number, expected?: Expected): Promise<void> {
    await this.#inTransaction(ctx, webhookId, async (hooks, hook) => {
      refuseStale(hook, expected);
      await hooks.delete(hook);
    });
  }

  /** Gives a webhook a new secret. The old one signs beside it for a day. */
  async rotate(ctx: RequestContext, webhookId: number): Promise<WebhookSecretDto> {
    return this.#inTransaction(ctx, webhookId, async (hooks, hook) => ({
      secret: await hooks.rotate(hook),
    }));
  }

  /** Sends a message of the type `ping` now, also to a webhook that is disabled. */
  async ping(ctx: RequestContext, webhookId: number, idle = NOT_A_REQUEST): Promise<DeliveryDto> {
    const hook = await this.#find(ctx, webhookId);
    return this.#send(ctx, hook, 1, idle, () => this.sender.ping(hook));
  }

  /** Sends a message again now, whatever became of it, also to a webhook that is disabled. */
  async resend(
    ctx: RequestContext,
    webhookId: number,
    messageId: string,
    idle = NOT_A_REQUEST,
  ): Promise<DeliveryDto> {
    const hook = await this.#find(ctx, webhookId);
    const message = await this.webhooks.in(ctx).findMessage(webhookId, messageId);
    if (!message) throw WebhookErrors.MESSAGE_NOT_FOUND();
    const { last, entry } = message;
    return this.#send(ctx, hook, last.attempt + 1, idle, () => this.sender.sendChange(hook, entry));
  }

  async #send(
    ctx: RequestContext,
    hook: TenantryWebhook,
    attempt: number,
    idle: Idle,
    send: () => Promise<Sent>,
  ): Promise<DeliveryDto> {
    const { webhookId, tenantId } = hook;
    const sent = await idle.during(async () => {
      const done = await this.#sendings.run(ctx.topTenantId, send, WebhookErrors.BUSY);
      // Before it waits for a place again, which it may not get: the message has been sent.
      await this.webhooks
        .addDeliveries([{ webhookId, tenantId, attempt, ...done }])
        .catch(async (error: unknown) => {
          // It may have been deleted meanwhile.
          await this.#find(ctx, webhookId);
          throw error;
        });
      return done;
    });
    return toDeliveryDto({ attempt, ...sent }, this.time);
  }

  #checkUrl({ topTenantId }: RequestContext, url: string, idle: Idle): Promise<void> {
    return this.sender.checkUrl(url, (lookUp) =>
      idle.during(() => this.#lookups.run(topTenantId, lookUp, WebhookErrors.BUSY)),
    );
  }

  async #change(
    ctx: RequestContext,
    { webhookId, url }: { readonly webhookId: number; readonly url: string | undefined },
    expected: Expected,
    idle: Idle,
    fieldsOf: (hook: TenantryWebhook) => CreateWebhookDto,
  ): Promise<number> {
    // Before anything outside is asked.
    refuseStale(await this.#find(ctx, webhookId), expected);
    if (url !== undefined) await this.#checkUrl(ctx, url, idle);
    return this.#inTransaction(ctx, webhookId, (hooks, hook) => {
      refuseStale(hook, expected);
      return hooks.replace(hook, toFields(fieldsOf(hook)));
    });
  }

  #inTransaction<T>(
    ctx: RequestContext,
    webhookId: number,
    work: (hooks: LockedWebhooks, hook: TenantryWebhook) => Promise<T>,
  ): Promise<T> {
    return this.webhooks.transaction(ctx, async (hooks) => {
      const hook = await hooks.find(webhookId);
      if (!hook) throw WebhookErrors.NOT_FOUND();
      return work(hooks, hook);
    });
  }

  async #find(ctx: RequestContext, webhookId: number): Promise<TenantryWebhook> {
    const hook = await this.webhooks.in(ctx).find(webhookId);
    if (!hook) throw WebhookErrors.NOT_FOUND();
    return hook;
  }
}

/** What was not sent becomes its default. */
function toFields({ url, ...choices }: CreateWebhookDto): WebhookFields {
  const kinds = choices.kinds && CHANGE_KINDS.filter((kind) => choices.kinds?.includes(kind)).join(',');
  return { url, ...withDefaults({ ...choices, kinds }, WEBHOOK_DEFAULTS) };
}

function toWebhookDto(row: TenantryWebhook, time: ZonedTime): WebhookDto {
  return { ...viewOf(row, VIEWED, time), kinds: kindsOf(row) };
}

function toDeliveryDto(
  row: Omit<TenantryDelivery, 'deliveryId' | 'tenantId' | 'webhookId'>,
  time: ZonedTime,
): DeliveryDto {
  const { messageId, attempt, statusCode, error, durationMs, sentAt } = row;
  return { messageId, attempt, statusCode, error, durationMs, time: time.format(sentAt) };
}
