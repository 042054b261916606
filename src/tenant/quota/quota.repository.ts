import { Injectable, type Type } from '@nestjs/common';
import { In, LessThan, LessThanOrEqual, Not, type FindOptionsWhere } from 'typeorm';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { OpenUnit } from '../../database/open-unit';
import { Interrupted } from '../../database/retrier';
import { isDuplicate } from '../../database/retry-policy';
import { ScopedTable, type FindOptions, type Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { RequestContext } from '../../tenancy/request-context';
import { TenantBound } from '../../tenancy/tenant-bound';
import { Clock } from '../../time/clock';
import { ZonedTime } from '../../time/zoned-time';
import { cutPage, type Page } from '../../database/page';
import { AT_ONCE, availableOf, COUNTED, LockedQuota, totalIn, type QuotaName } from './locked-quota';
import type { TenantryTenant } from '../tenant.entity';
import { QuotaKinds } from './quota-kinds';
import type { QuotaDto } from './quota.dto';
import {
  TenantryQuota,
  TenantryQuotaEntry,
  TenantryReservation,
  type QuotaOperation,
  type ReservationState,
} from './quota.entity';

const QUOTA_NAME = ['tenantId', 'kind'] as const;
const RAN_OUT = ['kind', 'amount'] as const;

/** What a transaction on a quota is for. */
interface QuotaDeed {
  /** Names it, in its tenant and kind. */
  readonly key?: string | undefined;
  readonly once?: IdempotentRequest | undefined;
  /** False for cleaning, which deleted tenants need too. */
  readonly isSpent?: boolean;
}

/** The quotas of a tenant: what is used and reserved of them, and the ledger. */
@Injectable()
export class QuotaRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly kinds: QuotaKinds,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): QuotaReader {
    return new QuotaReader(this.#unitOfWork, ctx, this.kinds, this.clock);
  }

  /** Quotas, of any tenant, with entries in the ledger that are older than this and not folded; some of them. */
  findOldEntries(before: Date): Promise<QuotaName[]> {
    const old = { createTime: LessThan(before), operation: Not<QuotaOperation>('month') };
    const options = { order: { createTime: 'ASC' }, limit: AT_ONCE } as const;
    return this.#findNames(TenantryQuotaEntry, old, options);
  }

  /** Quotas, of any tenant, with reservations in one of these states that have run out before; some of them. */
  findRanOut(states: readonly ReservationState[], before: Date): Promise<QuotaName[]> {
    const old = { state: In([...states]), expiresAt: LessThanOrEqual(before) };
    return this.#findNames(TenantryReservation, old, { limit: AT_ONCE });
  }

  async #findNames<E extends QuotaName>(
    entity: Type<E>,
    old: FindOptionsWhere<E>,
    options: FindOptions<E>,
  ): Promise<QuotaName[]> {
    const table = new ScopedTable(this.#unitOfWork.connections(), entity);
    const found = await table.pick(old, QUOTA_NAME, options);
    return [...new Map(found.map((name) => [`${name.tenantId} ${name.kind}`, name])).values()];
  }

  /** Makes one entry for each month of the oldest entries that are older than this; months are those that readers see. */
  fold(names: readonly QuotaName[], before: Date): Promise<number> {
    const monthOf = (time: Date): string => this.time.day(time).slice(0, 7);
    return this.cleaning(names, (quota) => quota.foldEntries(before, monthOf));
  }

  /** A transaction on each of them that spends nothing; of any tenant, deleted or not. Gives the sum of what `work` gave. */
  async cleaning(
    names: readonly QuotaName[],
    work: (quota: LockedQuota) => Promise<number>,
  ): Promise<number> {
    let sum = 0;
    for (const { tenantId, kind } of names)
      sum += await this.transaction(RequestContext.system(tenantId), kind, work, { isSpent: false });
    return sum;
  }

  /** Runs `work` while no one else spends of this quota of this tenant; it may run again after a conflict. */
  async transaction<T>(
    ctx: RequestContext,
    kind: string,
    work: (quota: LockedQuota) => Promise<T>,
    { key, once, isSpent = true }: QuotaDeed,
  ): Promise<T> {
    RequestContext.require(ctx);
    const lock = async ({ manager }: OpenUnit): Promise<void> => {
      const counters = new TenantBound(manager, TenantryQuota, ctx);
      if ((await counters.update({ kind }, { lastSeq: () => 'last_seq + 1' })) > 0) return;
      try {
        await counters.insert({ kind, total: null, used: 0, reserved: 0, lastSeq: 1 });
      } catch (error) {
        // Another unit was faster: the next try finds its row.
        throw isDuplicate(error) ? new Interrupted('conflict', error) : error;
      }
    };
    const run = async ({ manager }: OpenUnit): Promise<T> => {
      const quota = new LockedQuota(manager, ctx, kind, this.clock.now(), key ?? null);
      await quota.load(this.kinds.defaultTotal(kind), isSpent);
      return work(quota);
    };
    return this.#unitOfWork.runIn(ctx.unit, `quota ${ctx.tenantId} ${kind}`, lock, run, once);
  }
}

/** The quotas of one tenant, read outside of any transaction of theirs. */
export class QuotaReader {
  readonly #counters: TenantBound<TenantryQuota>;
  readonly #reservations: TenantBound<TenantryReservation>;
  readonly #entries: TenantBound<TenantryQuotaEntry>;

  constructor(
    unitOfWork: UnitOfWork,
    ctx: RequestContext,
    private readonly kinds: QuotaKinds,
    private readonly clock: Clock,
  ) {
    this.#counters = new TenantBound(unitOfWork, TenantryQuota, ctx);
    this.#reservations = new TenantBound(unitOfWork, TenantryReservation, ctx);
    this.#entries = new TenantBound(unitOfWork, TenantryQuotaEntry, ctx);
  }

  /** All kinds of the tenant. What has run out counts as available, whether or not anyone has marked it. */
  async findAll(tenant: TenantryTenant): Promise<QuotaDto[]> {
    const counters = await this.#counters.pick({}, COUNTED);
    // After the counters: what is marked meanwhile is then shown as reserved a moment longer, never twice as available.
    const due = { state: 'active', expiresAt: LessThanOrEqual(this.clock.now()) } as const;
    const ranOut = await this.#reservations.pick(due, RAN_OUT);
    return this.kinds.names.map((kind) => {
      const counter = counters.find((each) => each.kind === kind);
      const over = ranOut.filter((each) => each.kind === kind).reduce((sum, { amount }) => sum + amount, 0);
      const total = counter?.total ?? this.kinds.defaultTotal(kind) ?? totalIn(tenant, kind);
      const reserved = Math.max(0, (counter?.reserved ?? 0) - over);
      const state = { kind, total, used: counter?.used ?? 0, reserved };
      return { ...state, available: availableOf(state) };
    });
  }

  /** The newest first. */
  async findEntries(kind: string, after: Key | null, limit: number): Promise<Page<TenantryQuotaEntry>> {
    const rows = await this.#entries.find({ kind }, { order: { seq: 'DESC' }, after, limit: limit + 1 });
    return cutPage(rows, limit, ({ seq }) => [seq]);
  }
}
