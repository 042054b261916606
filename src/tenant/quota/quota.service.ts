import { Injectable } from '@nestjs/common';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { HttpErrors } from '../../errors/http.errors';
import { Meter } from '../../database/meter';
import type { RequestContext } from '../../tenancy/request-context';
import { ZonedTime } from '../../time/zoned-time';
import { viewOf } from '../../resource/fields';
import { PagedList, type PageView } from '../../database/page';
import type { PageQuery } from '../../web/page-query.dto';
import { checkedAs } from '../../web/checked-as';
import { TenantRepository } from '../tenant.repository';
import { QuotaKinds } from './quota-kinds';
import {
  CommitReservationDto,
  RefundQuotaDto,
  ReservationKeyDto,
  ReserveQuotaDto,
  UseQuotaDto,
  type QuotaDto,
  type QuotaEntryDto,
  type ReservationDto,
} from './quota.dto';
import type { TenantryQuotaEntry, TenantryReservation } from './quota.entity';
import { QuotaErrors } from './quota.errors';
import { availableOf, type LockedQuota } from './locked-quota';
import { QuotaRepository } from './quota.repository';

const ENTRIES = new PagedList('quota', ['long']);
const ENTRY = [
  ...(['kind', 'seq', 'operation', 'amount', 'key', 'ofKey'] as const),
  ...(['available', 'note', 'createBy', 'createTime'] as const),
];
const RESERVATION = ['kind', 'key', 'amount', 'createBy', 'createTime'] as const;
const MORE_THAN_RESERVED = {
  field: 'amount',
  message: { zh: '不能大于预留数量', en: 'must not be more than what was reserved' },
};

/** Whether a reservation has begun now, was active already, or is over. */
export type ReserveOutcome = 'begun' | 'active' | 'over';

/**
 * The rules of quotas. A key names a deed, in one tenant and kind: it takes effect once, whoever asks again, and whatever happened
 * to the first answer.
 */
@Injectable()
export class QuotaService {
  constructor(
    private readonly quotas: QuotaRepository,
    private readonly tenants: TenantRepository,
    private readonly kinds: QuotaKinds,
    private readonly time: ZonedTime,
    private readonly meter: Meter,
  ) {}

  /** All quotas of the caller's tenant. */
  async of(ctx: RequestContext): Promise<QuotaDto[]> {
    return this.quotas.in(ctx).findAll(await this.tenants.in(ctx).getOwn());
  }

  /** All quotas of a tenant at or below the caller's, by its internal id. */
  async ofTenant(ctx: RequestContext, id: string): Promise<QuotaDto[]> {
    const tenant = await this.tenants.in(ctx).get(id);
    return this.quotas.in(ctx.below(tenant.tenantId)).findAll(tenant);
  }

  /** A page of the ledger, the newest first. */
  async entries(ctx: RequestContext, kind: string, query: PageQuery): Promise<PageView<QuotaEntryDto>> {
    this.#refuseUnknown(kind);
    const page = await ENTRIES.page([ctx.tenantId, kind], query, (after, limit) =>
      this.quotas.in(ctx).findEntries(kind, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => this.#toEntryDto(row)) };
  }

  /** Spends. The same key and amount again gives the first answer, after `onReplay` was called. */
  async use(
    ctx: RequestContext,
    kind: string,
    dto: UseQuotaDto,
    onReplay?: () => void,
  ): Promise<QuotaEntryDto> {
    const { key, ...sent } = await checkedAs(UseQuotaDto, dto);
    const [amount, note] = [sent.amount ?? 1, sent.note ?? null];
    return this.#change(ctx, kind, { key }, async (quota) => {
      const before = await quota.findEntry(key);
      const isSame = before?.operation === 'use' && before.amount === amount;
      if (before) return this.#replay(before, isSame, onReplay);
      if (await quota.findReservation(key)) throw QuotaErrors.KEY_REUSED();
      this.#refuseTooMuch(quota, amount);
      return this.#toEntryDto(await quota.spend({ operation: 'use', amount, key, note }));
    });
  }

  /** Keeps a part back for some seconds. The same key and amount again gives the first answer, while it is active. */
  async reserve(
    ctx: RequestContext,
    kind: string,
    dto: ReserveQuotaDto,
    onReplay?: () => void,
  ): Promise<ReservationDto> {
    const { outcome, reservation } = await this.#reserve(ctx, kind, dto, false);
    if (!reservation) throw QuotaErrors.RESERVATION_OVER();
    if (outcome === 'active') onReplay?.();
    return reservation;
  }

  /** As `reserve`; one that was released or has run out begins anew. Gives what it found, or that it has begun. */
  async reserveAgain(ctx: RequestContext, kind: string, dto: ReserveQuotaDto): Promise<ReserveOutcome> {
    return (await this.#reserve(ctx, kind, dto, true)).outcome;
  }

  /** Spends what was reserved, or a part of it; the rest is released. */
  async commit(
    ctx: RequestContext,
    kind: string,
    key: string,
    dto: CommitReservationDto = {},
    once?: IdempotentRequest,
  ): Promise<QuotaEntryDto> {
    const sent = await checkedAs(CommitReservationDto, dto);
    return this.#change(ctx, kind, { once }, async (quota) => {
      const reservation = await activeReservation(quota, key);
      const amount = sent.amount ?? reservation.amount;
      if (amount > reservation.amount) throw HttpErrors.INVALID({ fields: [MORE_THAN_RESERVED] });
      await quota.end(reservation, 'committed');
      const entry = { operation: 'commit', amount, key: reservation.key } as const;
      return this.#toEntryDto(await quota.spend(entry, reservation.amount));
    });
  }

  /** Ends a reservation without spending it. */
  async release(ctx: RequestContext, kind: string, key: string): Promise<void> {
    await this.#change(ctx, kind, {}, async (quota) => {
      await quota.release(await activeReservation(quota, key));
    });
  }

  /** Gives back what a key has spent, or a part of it. The same key and amount again gives the first answer. */
  async refund(
    ctx: RequestContext,
    kind: string,
    dto: RefundQuotaDto,
    onReplay?: () => void,
  ): Promise<QuotaEntryDto> {
    const { ofKey, key, amount: wanted } = await checkedAs(RefundQuotaDto, dto);
    return this.#change(ctx, kind, { key }, async (quota) => {
      const before = await quota.findEntry(key);
      if (before) {
        const isSame = before.ofKey === ofKey && (wanted == null || before.amount === -wanted);
        return this.#replay(before, before.operation === 'refund' && isSame, onReplay);
      }
      if (await quota.findReservation(key)) throw QuotaErrors.KEY_REUSED();
      const spent = await quota.findSpent(ofKey);
      const amount = wanted ?? spent;
      if (spent <= 0 && !(await quota.findEntry(ofKey))) throw QuotaErrors.KEY_NOT_FOUND();
      // The key of a refund has spent less than nothing.
      if (amount > spent || spent <= 0) throw QuotaErrors.REFUND_TOO_LARGE();
      return this.#toEntryDto(await quota.spend({ operation: 'refund', amount: -amount, key, ofKey }));
    });
  }

  async #reserve(
    ctx: RequestContext,
    kind: string,
    dto: ReserveQuotaDto,
    beginsAnew: boolean,
  ): Promise<{ outcome: ReserveOutcome; reservation?: ReservationDto }> {
    const { amount, key, seconds } = await checkedAs(ReserveQuotaDto, dto);
    return this.#change(ctx, kind, { key }, async (quota) => {
      const before = await quota.findReservation(key);
      if (before ? before.amount !== amount : await quota.findEntry(key)) throw QuotaErrors.KEY_REUSED();
      if (before?.state === 'active')
        return { outcome: 'active', reservation: this.#toReservationDto(before) };
      if (before && (!beginsAnew || before.state === 'committed')) return { outcome: 'over' };
      this.#refuseTooMuch(quota, amount);
      const expiresAt = new Date(quota.now.getTime() + seconds * 1000);
      const reservation = this.#toReservationDto(
        await quota.reserve(key, amount, expiresAt, before !== null),
      );
      return { outcome: 'begun', reservation };
    });
  }

  #change<T>(
    ctx: RequestContext,
    kind: string,
    deed: { readonly key?: string; readonly once?: IdempotentRequest | undefined },
    work: (quota: LockedQuota) => Promise<T>,
  ): Promise<T> {
    this.#refuseUnknown(kind);
    return this.quotas.transaction(ctx, kind, work, deed);
  }

  #refuseUnknown(kind: string): void {
    if (!this.kinds.has(kind)) throw QuotaErrors.KIND_UNKNOWN();
  }

  #refuseTooMuch({ state }: LockedQuota, amount: number): void {
    const available = availableOf(state) ?? Number.MAX_SAFE_INTEGER - state.used - state.reserved;
    if (amount <= available) return;
    this.meter.quotaRefused?.(state.kind);
    throw QuotaErrors.EXCEEDED({ available });
  }

  /** The entry is committed: a unit that runs again finds it again. */
  #replay(entry: TenantryQuotaEntry, isSame: boolean, onReplay?: () => void): QuotaEntryDto {
    if (!isSame) throw QuotaErrors.KEY_REUSED();
    onReplay?.();
    return this.#toEntryDto(entry);
  }

  #toEntryDto(row: TenantryQuotaEntry): QuotaEntryDto {
    return viewOf(row, ENTRY, this.time);
  }

  #toReservationDto(row: TenantryReservation): ReservationDto {
    return { ...viewOf(row, RESERVATION, this.time), expireTime: this.time.format(row.expiresAt) };
  }
}

async function activeReservation(quota: LockedQuota, sent: string): Promise<TenantryReservation> {
  const { key } = await checkedAs(ReservationKeyDto, { key: sent });
  const reservation = await quota.findReservation(key);
  if (!reservation) throw QuotaErrors.RESERVATION_NOT_FOUND();
  if (reservation.state !== 'active') throw QuotaErrors.RESERVATION_OVER();
  return reservation;
}
