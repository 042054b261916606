import { Delete, Get, Post, Put } from '@nestjs/common';
import { IdempotencyErrors } from '../database/database.errors';
import type { IdempotentRequest } from '../database/idempotent-request';
import { Ctx, type RequestContext } from '../tenancy/request-context';
import { MANAGERS } from '../tenancy/roles';
import { Created } from '../web/envelope';
import { JsonBody, QueryParams } from '../web/input';
import { Operation } from '../web/operation.decorator';
import { OrganisationController } from '../web/organisation-controller';
import type { PageView } from '../web/page';
import { PageQuery } from '../web/page-query.dto';
import { IdempotencyKey, PathId } from '../web/params';
import {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeliveryDto,
  UpdateWebhookDto,
  WebhookDto,
} from './webhook.dto';
import { WebhookErrors } from './webhook.errors';
import { WebhookService } from './webhook.service';

const EXAMPLE = { url: 'https://receiver.example/hooks', kinds: ['dept', 'tenant'] };
const { NOT_FOUND, LIMIT } = WebhookErrors;

@OrganisationController('system/webhook-api', 'Webhooks')
export class WebhookController {
  constructor(private readonly webhooks: WebhookService) {}

  @Post()
  @Operation({
    id: 'createWebhook',
    summary: 'Create a webhook: changes from now on are sent to its address',
    description:
      'The secret that signs its messages is in this answer only. `Location` names the new webhook. A tenant has at most 20.',
    body: { example: EXAMPLE },
    creates: true,
    roles: MANAGERS,
    data: CreatedWebhookDto,
    refusals: [LIMIT, IdempotencyErrors.REUSED],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: CreateWebhookDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<Created> {
    const created = await this.webhooks.create(ctx, dto, once);
    return new Created(created.id, created);
  }

  @Get()
  @Operation({
    id: 'listWebhooks',
    summary: 'List the webhooks of your tenant, page by page',
    roles: MANAGERS,
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
    roles: MANAGERS,
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
    roles: MANAGERS,
    refusals: [NOT_FOUND],
  })
  update(@Ctx() ctx: RequestContext, @JsonBody() dto: UpdateWebhookDto): Promise<void> {
    return this.webhooks.update(ctx, dto);
  }

  @Delete(':id')
  @Operation({
    id: 'deleteWebhook',
    summary: 'Delete a webhook and the list of its deliveries',
    roles: MANAGERS,
    refusals: [NOT_FOUND],
  })
  delete(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<void> {
    return this.webhooks.delete(ctx, id);
  }

  @Post(':id/ping')
  @Operation({
    id: 'pingWebhook',
    summary: 'Send a message of the type `ping` now',
    description: 'Answers 200 with the outcome, whatever it is; also for a webhook that is disabled.',
    roles: MANAGERS,
    data: DeliveryDto,
    refusals: [NOT_FOUND],
  })
  ping(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<DeliveryDto> {
    return this.webhooks.ping(ctx, id);
  }

  @Get(':id/deliveries')
  @Operation({
    id: 'listDeliveries',
    summary: 'List what was sent to a webhook in the last 30 days, the newest first',
    roles: MANAGERS,
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
