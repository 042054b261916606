import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { IdempotencyErrors } from '../../database/database.errors';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { RevisionErrors } from '../../errors/http.errors';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { MANAGERS } from '../../tenancy/roles';
import { Changed, Created } from '../../web/envelope';
import { JsonBody, QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import type { PageView } from '../../database/page';
import { PageQuery } from '../../web/page-query.dto';
import { IdempotencyKey, IfMatch, PathId, PathText, sameId } from '../../web/params';
import { PATCH_TYPES } from '../../web/request';
import { IdleRequest, type Idle } from '../../web/work-place';
import type { Expected } from '../../database/revision';
import {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeliveryDto,
  PatchWebhookDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookMessageDto,
  WebhookSecretDto,
} from './webhook.dto';
import { MESSAGES } from './webhook-callback';
import { WebhookErrors } from './webhook.errors';
import { WebhookService } from './webhook.service';

const EXAMPLE = { url: 'https://receiver.example/hooks', kinds: ['dept', 'tenant'] };
const MESSAGE_ID = {
  name: 'messageId',
  description: 'As the list of deliveries shows it. A `ping` cannot be sent again.',
  example: 'msg_000000_42_0_1',
};
const { NOT_FOUND, LIMIT, BUSY, MESSAGE_NOT_FOUND } = WebhookErrors;
const { STALE } = RevisionErrors;

@ApiExtraModels(WebhookMessageDto)
@OrganisationController('system/webhook-api', 'Webhooks')
export class WebhookController {
  constructor(private readonly webhooks: WebhookService) {}

  @Post()
  @Operation({
    id: 'createWebhook',
    summary: 'Create a webhook: changes from now on are sent to its address',
    description:
      'The secret that signs its messages is in this answer only, and not when the request is repeated with its `Idempotency-Key`. `Location` names the new webhook. A tenant has at most 20.',
    body: { example: EXAMPLE },
    callbacks: MESSAGES,
    creates: true,
    tellsTag: true,
    roles: MANAGERS,
    permission: 'webhook:write',
    data: CreatedWebhookDto,
    refusals: [LIMIT, BUSY, IdempotencyErrors.REUSED],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: CreateWebhookDto,
    @IdempotencyKey() once: IdempotentRequest | undefined,
    @IdleRequest() idle: Idle,
  ): Promise<Created> {
    const created = await this.webhooks.create(ctx, dto, once, idle);
    return new Created(created.id, created);
  }

  @Get()
  @Operation({
    id: 'listWebhooks',
    summary: 'List the webhooks of your tenant, page by page',
    description: 'Secrets are never listed. A webhook that the service has disabled tells why in `reason`.',
    roles: MANAGERS,
    permission: 'webhook:write',
    page: WebhookDto,
    refusals: [],
  })
  list(@Ctx() ctx: RequestContext, @QueryParams() query: PageQuery): Promise<PageView<WebhookDto>> {
    return this.webhooks.list(ctx, query);
  }

  @Get(':id')
  @Operation({
    id: 'getWebhook',
    summary: 'Read a webhook',
    description: 'Its secret is not in the answer: only create and rotate show one.',
    roles: MANAGERS,
    permission: 'webhook:write',
    data: WebhookDto,
    refusals: [NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<WebhookDto> {
    return this.webhooks.get(ctx, id);
  }

  @Put()
  @Operation({
    id: 'updateWebhook',
    summary: 'Replace a webhook; its secret stays',
    description:
      'A field that is not sent, or is null, gets its default. It goes on where it was; what has failed is tried again at once.',
    body: { example: { webhookId: 1, ...EXAMPLE } },
    tellsTag: true,
    roles: MANAGERS,
    permission: 'webhook:write',
    refusals: [NOT_FOUND, STALE, BUSY],
  })
  async update(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: UpdateWebhookDto,
    @IfMatch() expected: Expected,
    @IdleRequest() idle: Idle,
  ): Promise<Changed> {
    return new Changed(await this.webhooks.update(ctx, dto, expected, idle));
  }

  @Patch(':id')
  @Operation({
    id: 'patchWebhook',
    summary: 'Change some fields of a webhook (JSON merge patch)',
    description:
      'Fields in the body are changed, null resets `kinds` and `status` to their defaults; otherwise as `updateWebhook`.',
    body: { as: PATCH_TYPES, example: { kinds: ['dept'] } },
    tellsTag: true,
    roles: MANAGERS,
    permission: 'webhook:write',
    refusals: [NOT_FOUND, STALE, BUSY],
  })
  async patch(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @JsonBody() dto: PatchWebhookDto,
    @IfMatch() expected: Expected,
    @IdleRequest() idle: Idle,
  ): Promise<Changed> {
    const webhookId = sameId('webhookId', id, dto.webhookId);
    return new Changed(await this.webhooks.patch(ctx, webhookId, dto, expected, idle));
  }

  @Delete(':id')
  @Operation({
    id: 'deleteWebhook',
    summary: 'Delete a webhook and the list of its deliveries',
    description:
      'Nothing is sent to its address from then on. The changes that it has not been sent stay in the journal.',
    roles: MANAGERS,
    permission: 'webhook:write',
    refusals: [NOT_FOUND, STALE],
  })
  delete(@Ctx() ctx: RequestContext, @PathId() id: number, @IfMatch() expected: Expected): Promise<void> {
    return this.webhooks.delete(ctx, id, expected);
  }

  @Post(':id/rotate')
  @Operation({
    id: 'rotateWebhookSecret',
    summary: 'Give a webhook a new secret',
    description: 'The new secret is in this answer only. The old one signs beside it for a day.',
    roles: MANAGERS,
    permission: 'webhook:write',
    data: WebhookSecretDto,
    refusals: [NOT_FOUND],
  })
  rotate(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<WebhookSecretDto> {
    return this.webhooks.rotate(ctx, id);
  }

  @Post(':id/ping')
  @Operation({
    id: 'pingWebhook',
    summary: 'Send a message of the type `ping` now',
    description: 'The answer is 200 with the outcome, whatever it is, also for a webhook that is disabled.',
    roles: MANAGERS,
    permission: 'webhook:write',
    data: DeliveryDto,
    refusals: [NOT_FOUND, BUSY],
  })
  ping(@Ctx() ctx: RequestContext, @PathId() id: number, @IdleRequest() idle: Idle): Promise<DeliveryDto> {
    return this.webhooks.ping(ctx, id, idle);
  }

  @Post(':id/deliveries/:messageId/resend')
  @Operation({
    id: 'resendMessage',
    summary: 'Send a message again now',
    description:
      'It has the same id and the same body as before, and does not change what the webhook is sent next. The answer is 200 with the outcome, whatever it is, also for a webhook that is disabled.',
    roles: MANAGERS,
    permission: 'webhook:write',
    data: DeliveryDto,
    refusals: [NOT_FOUND, MESSAGE_NOT_FOUND, BUSY],
  })
  resend(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @PathText(MESSAGE_ID) messageId: string,
    @IdleRequest() idle: Idle,
  ): Promise<DeliveryDto> {
    return this.webhooks.resend(ctx, id, messageId, idle);
  }

  @Get(':id/deliveries')
  @Operation({
    id: 'listDeliveries',
    summary: 'List what was sent to a webhook in the last 30 days, the newest first',
    description:
      'There is a row for each try, with the status of the answer, or the error if there was none. A message that was tried several times has the same `messageId` in all its rows.',
    roles: MANAGERS,
    permission: 'webhook:write',
    page: DeliveryDto,
    refusals: [NOT_FOUND],
  })
  deliveries(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<DeliveryDto>> {
    return this.webhooks.deliveries(ctx, id, query);
  }
}
