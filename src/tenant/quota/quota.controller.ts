import { Delete, Get, Post } from '@nestjs/common';
import { IdempotencyErrors } from '../../database/database.errors';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { MANAGERS, READERS } from '../../tenancy/roles';
import { TenantErrors } from '../../tenancy/tenant.errors';
import { JsonBody, OptionalJsonBody, QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import type { PageView } from '../../database/page';
import { PageQuery } from '../../web/page-query.dto';
import { IdempotencyKey, OnReplay, PathText, PathTextId } from '../../web/params';
import {
  CommitReservationDto,
  QuotaDto,
  QuotaEntryDto,
  RefundQuotaDto,
  ReservationDto,
  ReserveQuotaDto,
  UseQuotaDto,
} from './quota.dto';
import { QuotaErrors } from './quota.errors';
import { QuotaService } from './quota.service';

const { KIND_UNKNOWN, EXCEEDED, KEY_REUSED, KEY_NOT_FOUND, REFUND_TOO_LARGE } = QuotaErrors;
const { RESERVATION_NOT_FOUND, RESERVATION_OVER } = QuotaErrors;
const KIND = { name: 'kind', example: 'riskReport', description: 'The kind of quota, as the list shows it.' };
const KEY = {
  name: 'key',
  example: 'report-2026-0002',
  description: 'The key of the reservation, encoded as part of an address.',
};

@OrganisationController('system/quota-api', 'Quotas')
export class QuotaController {
  constructor(private readonly quotas: QuotaService) {}

  @Get()
  @Operation({
    id: 'listQuotas',
    summary: 'Read the quotas of your tenant',
    description: 'Every kind has a row: its total, what is used and reserved, and what can still be spent.',
    roles: READERS,
    permission: 'quota:read',
    list: QuotaDto,
    refusals: [],
  })
  own(@Ctx() ctx: RequestContext): Promise<QuotaDto[]> {
    return this.quotas.of(ctx);
  }

  @Get(':id')
  @Operation({
    id: 'listQuotasOfTenant',
    summary: 'Read the quotas of a tenant at or below your own',
    description:
      'The `id` is the internal one, as the list of tenants shows it. A tenant outside of your own and those below it is refused like one that does not exist.',
    roles: MANAGERS,
    permission: 'quota:read',
    list: QuotaDto,
    refusals: [TenantErrors.NOT_FOUND],
  })
  ofTenant(@Ctx() ctx: RequestContext, @PathTextId() id: string): Promise<QuotaDto[]> {
    return this.quotas.ofTenant(ctx, id);
  }

  @Post(':kind/use')
  @Operation({
    id: 'useQuota',
    summary: 'Spend a quota',
    description: 'The same key and amount again gives the first answer, and spends nothing.',
    replays: true,
    roles: MANAGERS,
    permission: 'quota:spend',
    data: QuotaEntryDto,
    refusals: [KIND_UNKNOWN, EXCEEDED, KEY_REUSED],
  })
  use(
    @Ctx() ctx: RequestContext,
    @PathText(KIND) kind: string,
    @JsonBody() dto: UseQuotaDto,
    @OnReplay() onReplay: () => void,
  ): Promise<QuotaEntryDto> {
    return this.quotas.use(ctx, kind, dto, onReplay);
  }

  @Post(':kind/refund')
  @Operation({
    id: 'refundQuota',
    summary: 'Give back what a key has spent',
    description: 'The same key and amount again gives the first answer, and gives nothing back.',
    replays: true,
    roles: MANAGERS,
    permission: 'quota:spend',
    data: QuotaEntryDto,
    refusals: [KIND_UNKNOWN, KEY_NOT_FOUND, REFUND_TOO_LARGE, KEY_REUSED],
  })
  refund(
    @Ctx() ctx: RequestContext,
    @PathText(KIND) kind: string,
    @JsonBody() dto: RefundQuotaDto,
    @OnReplay() onReplay: () => void,
  ): Promise<QuotaEntryDto> {
    return this.quotas.refund(ctx, kind, dto, onReplay);
  }

  @Get(':kind/entries')
  @Operation({
    id: 'listQuotaEntries',
    summary: 'Read the ledger of a quota, page by page, the newest first',
    description:
      'There is an entry for each use, commit and refund; the sum of all amounts is what is used. Older entries are kept as one sum a month.',
    roles: MANAGERS,
    permission: 'quota:read',
    page: QuotaEntryDto,
    refusals: [KIND_UNKNOWN],
  })
  entries(
    @Ctx() ctx: RequestContext,
    @PathText(KIND) kind: string,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<QuotaEntryDto>> {
    return this.quotas.entries(ctx, kind, query);
  }

  @Post(':kind/reservations')
  @Operation({
    id: 'reserveQuota',
    summary: 'Reserve a part of a quota for some seconds',
    description: 'The same key and amount again gives the first answer, while the reservation is active.',
    replays: true,
    roles: MANAGERS,
    permission: 'quota:spend',
    data: ReservationDto,
    refusals: [KIND_UNKNOWN, EXCEEDED, KEY_REUSED, RESERVATION_OVER],
  })
  reserve(
    @Ctx() ctx: RequestContext,
    @PathText(KIND) kind: string,
    @JsonBody() dto: ReserveQuotaDto,
    @OnReplay() onReplay: () => void,
  ): Promise<ReservationDto> {
    return this.quotas.reserve(ctx, kind, dto, onReplay);
  }

  @Post(':kind/reservations/:key/commit')
  @Operation({
    id: 'commitReservation',
    summary: 'Spend what was reserved, or a part of it; the rest is released',
    description:
      'What was reserved is spent even if the total was lowered meanwhile. A reservation that was committed or released, or has run out, is refused; send an `Idempotency-Key` to be able to repeat the request.',
    roles: MANAGERS,
    permission: 'quota:spend',
    data: QuotaEntryDto,
    refusals: [KIND_UNKNOWN, RESERVATION_NOT_FOUND, RESERVATION_OVER, IdempotencyErrors.REUSED],
  })
  commit(
    @Ctx() ctx: RequestContext,
    @PathText(KIND) kind: string,
    @PathText(KEY) key: string,
    @OptionalJsonBody() dto: CommitReservationDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<QuotaEntryDto> {
    return this.quotas.commit(ctx, kind, key, dto, once);
  }

  @Delete(':kind/reservations/:key')
  @Operation({
    id: 'releaseReservation',
    summary: 'End a reservation without spending it',
    description:
      'What was reserved can be spent by others at once. A reservation that was committed or released, or has run out, is refused.',
    roles: MANAGERS,
    permission: 'quota:spend',
    refusals: [KIND_UNKNOWN, RESERVATION_NOT_FOUND, RESERVATION_OVER],
  })
  release(
    @Ctx() ctx: RequestContext,
    @PathText(KIND) kind: string,
    @PathText({ ...KEY, example: 'report-2026-0003' }) key: string,
  ): Promise<void> {
    return this.quotas.release(ctx, kind, key);
  }
}
