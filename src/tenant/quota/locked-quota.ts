import { In, LessThan, LessThanOrEqual, Not, type EntityManager } from 'typeorm';
import type { RequestContext } from '../../tenancy/request-context';
import { goneTenant } from '../../tenancy/tenant-access';
import { TenantBound } from '../../tenancy/tenant-bound';
import { TenantryTenant } from '../tenant.entity';
import { isContractQuota } from './quota-kinds';
import {
  TenantryQuota,
  TenantryQuotaEntry,
  TenantryReservation,
  type QuotaOperation,
  type ReservationState,
} from './quota.entity';

export const COUNTED = ['kind', 'total', 'used', 'reserved', 'lastSeq'] as const;
/** So few that no other statement waits for long. */
export const AT_ONCE = 500;
const AMOUNT = ['amount'] as const;
/** A plain read: it does not wait for those who hold the tenant. What a key has done is asked with it, because others wait meanwhile. */
const TENANT_AND_KEY = `(SELECT d.del_flag FROM :tenantry_tenant d WHERE d.tenant_id = t.tenant_id) AS "delFlag",
  (SELECT e.seq FROM :tenantry_quota_entry e
    WHERE e.tenant_id = t.tenant_id AND e.kind = t.kind AND e.entry_key = :key) AS "entry",
  (SELECT r.amount FROM :tenantry_quota_reservation r
    WHERE r.tenant_id = t.tenant_id AND r.kind = t.kind AND r.entry_key = :key) AS "reservation"`;

/** Whether the tenant is deleted, and whether there is an entry or a reservation with the key of the deed. */
interface TenantAndKey {
  readonly delFlag: string | null;
  readonly entry: unknown;
  readonly reservation: unknown;
}

/** Which quota it is. */
export type QuotaName = Pick<TenantryQuota, 'tenantId' | 'kind'>;

/** How much there is of one kind; -1 is unlimited. */
export interface QuotaState {
  readonly kind: string;
  readonly total: number;
  readonly used: number;
  readonly reserved: number;
}

/** What can still be spent; null when unlimited. A total may have been lowered below what is used. */
export function availableOf({ total, used, reserved }: QuotaState): number | null {
  return total < 0 ? null : Math.max(0, total - used - reserved);
}

async function findTenant(manager: EntityManager, ctx: RequestContext): Promise<TenantryTenant> {
  const tenant = await new TenantBound(manager, TenantryTenant, ctx).findOne({ delFlag: '0' });
  if (!tenant) throw goneTenant(ctx.tenantId, ctx.callerTenantId);
  return tenant;
}

/** Where the tenant was made by a version that knew no counters. */
export function totalIn({ quota }: TenantryTenant, kind: string): number {
  return isContractQuota(kind) ? quota[kind] : 0;
}

type Spending = Pick<TenantryQuotaEntry, 'operation' | 'amount' | 'key'> &
  Partial<Pick<TenantryQuotaEntry, 'ofKey' | 'note'>>;

/** One quota of a tenant, inside a unit of work that holds it: the only way to write to it and to its ledger. */
export class LockedQuota {
  readonly #counters: TenantBound<TenantryQuota>;
  readonly #entries: TenantBound<TenantryQuotaEntry>;
  readonly #reservations: TenantBound<TenantryReservation>;
  #state: QuotaState & { readonly lastSeq: number };
  #hasEntry = false;
  #hasReservation = false;

  constructor(
    private readonly manager: EntityManager,
    private readonly ctx: RequestContext,
    kind: string,
    readonly now: Date,
    /** Names the deed that is done, if it has one. */
    private readonly key: string | null,
  ) {
    this.#counters = new TenantBound(manager, TenantryQuota, ctx);
    this.#entries = new TenantBound(manager, TenantryQuotaEntry, ctx);
    this.#reservations = new TenantBound(manager, TenantryReservation, ctx);
    this.#state = { kind, total: 0, used: 0, reserved: 0, lastSeq: 0 };
  }

  get state(): QuotaState {
    return this.#state;
  }

  /** Reads what there is, and marks what has run out. Where nothing is spent, the tenant may be deleted, and no total is needed. */
  async load(defaultTotal: number | undefined, isSpent = true): Promise<void> {
    const { kind } = this.#state;
    const named = { key: this.key };
    const [found] = await this.#counters.pickWith<(typeof COUNTED)[number], TenantAndKey>(
      { kind },
      COUNTED,
      TENANT_AND_KEY,
      {
        named,
      },
    );
    if (!found || (isSpent && found.delFlag !== '0'))
      throw goneTenant(this.ctx.tenantId, this.ctx.callerTenantId);
    const { used, reserved, lastSeq } = found;
    const known = found.total ?? defaultTotal;
    const total = known ?? (isSpent ? totalIn(await findTenant(this.manager, this.ctx), kind) : 0);
    this.#state = { kind, total, used, reserved, lastSeq };
    this.#hasEntry = found.entry !== null;
    this.#hasReservation = found.reservation !== null;
    if (reserved > 0) await this.#markExpired();
  }

  async findEntry(key: string): Promise<TenantryQuotaEntry | null> {
    if (key === this.key && !this.#hasEntry) return null;
    return this.#entries.findOne({ kind: this.#state.kind, key });
  }

  async findReservation(key: string): Promise<TenantryReservation | null> {
    if (key === this.key && !this.#hasReservation) return null;
    return this.#reservations.findOne({ kind: this.#state.kind, key });
  }

  /** What a key has spent, less what was given back of it. */
  async findSpent(key: string): Promise<number> {
    const { kind } = this.#state;
    const entries = await this.#entries.pick(
      [
        { kind, key },
        { kind, ofKey: key },
      ],
      AMOUNT,
    );
    return entries.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Writes to the ledger. `released` is no longer reserved, because it is spent or not needed. */
  async spend(entry: Spending, released = 0): Promise<TenantryQuotaEntry> {
    const { kind, lastSeq, used, reserved } = this.#state;
    await this.#count({ used: used + entry.amount, reserved: reserved - released });
    const { tenantId, username: createBy } = this.ctx;
    const available = availableOf(this.#state);
    const more = { ofKey: null, note: null, available, createBy, createTime: this.now };
    const row: TenantryQuotaEntry = { ...more, tenantId, kind, seq: lastSeq, ...entry };
    await this.#entries.insert(row);
    return row;
  }

  /** Keeps a part back; `isAgain` one with this key that has ended. */
  async reserve(
    key: string,
    amount: number,
    expiresAt: Date,
    isAgain: boolean,
  ): Promise<TenantryReservation> {
    const { kind, reserved } = this.#state;
    await this.#count({ reserved: reserved + amount });
    const { tenantId, username: createBy } = this.ctx;
    const fields = { amount, state: 'active', expiresAt, createBy, createTime: this.now } as const;
    if (isAgain) await this.#reservations.update({ kind, key }, fields);
    else await this.#reservations.insert({ kind, key, ...fields });
    return { tenantId, kind, key, ...fields };
  }

  /** Ends an active reservation; what it has reserved is counted by `spend` or `release`. */
  async end({ kind, key }: TenantryReservation, state: ReservationState): Promise<void> {
    await this.#reservations.update({ kind, key }, { state });
  }

  async release(reservation: TenantryReservation): Promise<void> {
    await this.end(reservation, 'released');
    await this.#count({ reserved: this.#state.reserved - reservation.amount });
  }

  /**
   * Makes one entry for each month of the oldest entries, as far as they are older than this; gives how many there were.
   * The ledger's sum stays the same.
   */
  async foldEntries(before: Date, monthOf: (time: Date) => string): Promise<number> {
    const { kind } = this.#state;
    const oldest = await this.#entries.find({ kind }, { order: { seq: 'ASC' }, limit: AT_ONCE });
    const kept = oldest.findIndex(({ createTime }) => createTime >= before);
    const months = new Map<string, TenantryQuotaEntry[]>();
    for (const entry of kept < 0 ? oldest : oldest.slice(0, kept)) {
      const month = monthOf(entry.createTime);
      months.set(month, [...(months.get(month) ?? []), entry]);
    }
    let folded = 0;
    for (const entries of months.values()) {
      const detailed = entries.filter(({ operation }) => operation !== 'month').length;
      if (detailed === 0) continue;
      folded += detailed;
      await this.#fold(entries);
    }
    return folded;
  }

  /** Forgets reservations that ended, and would have run out before this. */
  forgetReservations(before: Date): Promise<number> {
    const { kind } = this.#state;
    return this.#reservations.erase({ kind, state: Not('active'), expiresAt: LessThan(before) });
  }

  async #fold(entries: readonly TenantryQuotaEntry[]): Promise<void> {
    const { kind } = this.#state;
    const last = entries.at(-1);
    if (!last) return;
    const others = entries.slice(0, -1).map(({ seq }) => seq);
    if (others.length > 0) await this.#entries.erase({ kind, seq: In(others) });
    const amount = entries.reduce((sum, entry) => sum + entry.amount, 0);
    const operation: QuotaOperation = 'month';
    const sum = { operation, amount, key: null, ofKey: null, note: null, createBy: 'system' };
    await this.#entries.update({ kind, seq: last.seq }, sum);
  }

  async #markExpired(): Promise<void> {
    const due = { kind: this.#state.kind, state: 'active', expiresAt: LessThanOrEqual(this.now) } as const;
    const ranOut = await this.#reservations.pick(due, AMOUNT);
    if (ranOut.length === 0) return;
    await this.#reservations.update(due, { state: 'expired' });
    await this.#count({ reserved: ranOut.reduce((rest, { amount }) => rest - amount, this.#state.reserved) });
  }

  async #count(changed: Partial<Pick<QuotaState, 'used' | 'reserved'>>): Promise<void> {
    this.#state = { ...this.#state, ...changed };
    const { kind, used, reserved } = this.#state;
    await this.#counters.update({ kind }, { used, reserved });
  }
}
