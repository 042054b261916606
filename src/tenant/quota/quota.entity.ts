import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BY_MIGRATIONS, ascii, id, instant, text } from '../../database/columns';
import type { TenantOwned } from '../../tenancy/tenant-bound';

/**
 * What a tenant has used and reserved of one kind of quota. Every unit that spends raises `lastSeq` first: that is its lock, and on
 * a cluster what two of them collide on. The three tables have no foreign key to the tenant: to check it MySQL would wait for
 * every structural write of the tenant.
 */
@Entity('tenantry_quota', BY_MIGRATIONS)
export class TenantryQuota implements TenantOwned {
  @PrimaryColumn({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;
  @PrimaryColumn({ type: 'varchar', length: 64, ...ascii }) kind!: string;
  /** Of the six kinds of the contract: as the tenant's row has it, so that spending needs no lock on that row. Else null. */
  @Column({ type: 'integer', nullable: true }) total!: number | null;
  @Column({ type: 'bigint', transformer: id }) used!: number;
  /** By reservations that are active, those included that have run out and are not yet marked. */
  @Column({ type: 'bigint', transformer: id }) reserved!: number;
  /** Of the ledger. */
  @Column({ name: 'last_seq', type: 'bigint', transformer: id }) lastSeq!: number;
}

/** `month` is the sum of all entries of a month that are no longer kept. */
export const QUOTA_OPERATIONS = ['use', 'commit', 'refund', 'month'] as const;
export type QuotaOperation = (typeof QUOTA_OPERATIONS)[number];

/** The ledger: one row for each time that something was spent or given back. The sum of its amounts is what is used. */
@Entity('tenantry_quota_entry', BY_MIGRATIONS)
@Index('ux_quota_entry_key', ['tenantId', 'kind', 'key'], { unique: true })
@Index('ix_quota_entry_refunds', ['tenantId', 'kind', 'ofKey'])
export class TenantryQuotaEntry implements TenantOwned {
  @PrimaryColumn({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;
  @PrimaryColumn({ type: 'varchar', length: 64, ...ascii }) kind!: string;
  /** In the order of commits. */
  @PrimaryColumn({ type: 'bigint', transformer: id }) seq!: number;
  @Column({ type: 'varchar', length: 8, ...ascii }) operation!: QuotaOperation;
  /** Below 0 when it was given back. */
  @Column({ type: 'bigint', transformer: id }) amount!: number;
  /** Null of a month. */
  @Column({ name: 'entry_key', type: 'varchar', length: 255, nullable: true, ...text }) key!: string | null;
  /** Of a refund: the key that had spent it. */
  @Column({ name: 'of_key', type: 'varchar', length: 255, nullable: true, ...text }) ofKey!: string | null;
  /** What was available after it; null when unlimited. */
  @Column({ type: 'bigint', nullable: true, transformer: id }) available!: number | null;
  @Column({ type: 'varchar', length: 500, nullable: true, ...text }) note!: string | null;
  @Column({ name: 'create_by', type: 'varchar', length: 64, ...text }) createBy!: string;

  @Index('ix_quota_entry_time')
  @Column({ name: 'create_time', ...instant })
  createTime!: Date;
}

export type ReservationState = 'active' | 'committed' | 'released' | 'expired';

/** A part of a quota that is kept for someone until it is spent, given back, or runs out. */
@Entity('tenantry_quota_reservation', BY_MIGRATIONS)
@Index('ix_reservation_state', ['state', 'expiresAt'])
export class TenantryReservation implements TenantOwned {
  @PrimaryColumn({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;
  @PrimaryColumn({ type: 'varchar', length: 64, ...ascii }) kind!: string;
  @PrimaryColumn({ name: 'entry_key', type: 'varchar', length: 255, ...text }) key!: string;
  @Column({ type: 'bigint', transformer: id }) amount!: number;
  @Column({ type: 'varchar', length: 10, ...ascii }) state!: ReservationState;
  @Column({ name: 'expires_at', ...instant }) expiresAt!: Date;
  @Column({ name: 'create_by', type: 'varchar', length: 64, ...text }) createBy!: string;
  @Column({ name: 'create_time', ...instant }) createTime!: Date;
}
