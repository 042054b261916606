import { INTEGER_MAX } from '../../web/field-rules';
import { IntegerField, RequiredIntegerField, RequiredTextField, TextField } from '../../web/fields';
import { Choice, Int32, Int64, TimeText } from '../../web/view-fields';
import { QUOTA_OPERATIONS, type QuotaOperation } from './quota.entity';

const MAX_KEY = 255;
const MAX_NOTE = 500;
const MAX_SECONDS = 24 * 60 * 60;

/** One quota of a tenant. */
export class QuotaDto {
  /** @example riskReport */
  kind!: string;
  /** -1 is unlimited. @example 100 */
  @Int32() total!: number;
  /** @example 12 */
  @Int64() used!: number;
  /** By reservations that have not run out. @example 3 */
  @Int64() reserved!: number;
  /** What can still be spent; null when unlimited. @example 85 */
  @Int64() available!: number | null;
}

/** What shall be spent. */
export class UseQuotaDto {
  /** Default: 1. @example 1 */
  @IntegerField(1, INTEGER_MAX) amount?: number;
  /**
   * Names what it is spent for. The same key and amount again gives the first answer, and spends nothing.
   * @example report-2026-0001
   */
  @RequiredTextField(MAX_KEY) key!: string;
  /** @example Risk report of Huadong Manufacturing */
  @TextField(MAX_NOTE) note?: string;
}

/** What shall be kept back, and for how long. */
export class ReserveQuotaDto {
  /** @example 1 */
  @RequiredIntegerField(1, INTEGER_MAX) amount!: number;
  /** Names what it is reserved for. @example report-2026-0002 */
  @RequiredTextField(MAX_KEY) key!: string;
  /** After so many seconds it is released by itself. @example 600 */
  @RequiredIntegerField(1, MAX_SECONDS) seconds!: number;
}

/** Names a reservation in a path. */
export class ReservationKeyDto {
  @RequiredTextField(MAX_KEY) key!: string;
}

/** How much of a reservation is spent. */
export class CommitReservationDto {
  /** At most what was reserved. Default: all of it; the rest is released. @example 1 */
  @IntegerField(1, INTEGER_MAX) amount?: number;
}

/** What shall be given back. */
export class RefundQuotaDto {
  /** The key that has spent it. @example report-2026-0001 */
  @RequiredTextField(MAX_KEY) ofKey!: string;
  /** Default: all that is left of it. @example 1 */
  @IntegerField(1, INTEGER_MAX) amount?: number;
  /** Names this refund. @example refund-2026-0001 */
  @RequiredTextField(MAX_KEY) key!: string;
}

/** An active reservation. */
export class ReservationDto {
  /** @example riskReport */
  kind!: string;
  /** @example report-2026-0002 */
  key!: string;
  /** @example 1 */
  @Int32() amount!: number;
  /** When it is released by itself. @example "2026-01-01 09:10:00" */
  @TimeText() expireTime!: string;
  /** @example admin */
  createBy!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText() createTime!: string;
}

/** An entry of the ledger. */
export class QuotaEntryDto {
  /** @example riskReport */
  kind!: string;
  /** Counts the entries of a kind; there may be gaps. @example 42 */
  @Int64() seq!: number;
  /** `use`, `commit` of a reservation, `refund`; or `month`, the sum of a month whose entries are no longer kept. */
  @Choice(...QUOTA_OPERATIONS) operation!: QuotaOperation;
  /** What it has added to what is used; below 0 for a refund. @example 1 */
  @Int64() amount!: number;
  /** Null of a month. @example report-2026-0001 */
  key!: string | null;
  /** Of a refund: the key that had spent it. */
  ofKey!: string | null;
  /** What was available after it; null when unlimited. @example 85 */
  @Int64() available!: number | null;
  note!: string | null;
  /** @example admin */
  createBy!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText() createTime!: string;
}
