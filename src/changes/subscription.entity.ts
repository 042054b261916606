import { Column, Entity, Generated, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Stamped } from '../database/audited';
import { BY_MIGRATIONS, ascii, id, instant, text, toTenant } from '../database/columns';
import type { TenantOwned } from '../tenancy/tenant-bound';

/** An address of a tenant that its changes are sent to. */
@Entity('tenantry_webhook', BY_MIGRATIONS)
@Index('ix_webhook_tenant', ['tenantId', 'webhookId'])
export class TenantryWebhook extends Stamped implements TenantOwned {
  @PrimaryColumn({ name: 'webhook_id', type: 'bigint', transformer: id })
  @Generated('increment')
  webhookId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;

  @ManyToOne('TenantryTenant', { onDelete: 'CASCADE' })
  @JoinColumn(toTenant('fk_webhook_tenant'))
  tenant?: object;

  @Column({ type: 'varchar', length: 2048, ...text }) url!: string;
  /** Comma-separated. */
  @Column({ type: 'varchar', length: 64, ...ascii }) kinds!: string;
  @Column({ type: 'varchar', length: 64, ...ascii }) secret!: string;
  @Column({ type: 'varchar', length: 1, ...ascii }) status!: string;
  /** Why the service has disabled it. */
  @Column({ type: 'varchar', length: 500, nullable: true, ...text }) reason!: string | null;
  /** Secrets that were replaced and still sign, each with the time until when: `<secret> <milliseconds>`, comma-separated. */
  @Column({ name: 'old_secrets', type: 'varchar', length: 500, nullable: true, ...ascii })
  oldSecrets!: string | null;
}

/** One try to send one message to a webhook. Kept for 30 days. */
@Entity('tenantry_webhook_delivery', BY_MIGRATIONS)
@Index('ix_delivery_webhook', ['webhookId', 'deliveryId'])
@Index('ix_delivery_message', ['webhookId', 'messageId'])
export class TenantryDelivery implements TenantOwned {
  @PrimaryColumn({ name: 'delivery_id', type: 'bigint', transformer: id })
  @Generated('increment')
  deliveryId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;
  @Column({ name: 'webhook_id', type: 'bigint', transformer: id }) webhookId!: number;

  @ManyToOne(() => TenantryWebhook, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'webhook_id', foreignKeyConstraintName: 'fk_delivery_webhook' })
  webhook?: TenantryWebhook;

  @Column({ name: 'message_id', type: 'varchar', length: 80, ...ascii }) messageId!: string;
  @Column({ type: 'integer' }) attempt!: number;
  @Column({ name: 'status_code', type: 'integer', nullable: true }) statusCode!: number | null;
  @Column({ type: 'varchar', length: 500, nullable: true, ...text }) error!: string | null;
  @Column({ name: 'duration_ms', type: 'integer' }) durationMs!: number;

  @Index('ix_delivery_expiry')
  @Column({ name: 'sent_at', ...instant })
  sentAt!: Date;
}

/** How far a webhook, or a handler of the host, has come in the journal of one tenant. */
@Entity('tenantry_change_position', BY_MIGRATIONS)
export class TenantryPosition {
  /** The tenant whose journal it is; a webhook of another tenant may follow the platform's. */
  @PrimaryColumn({ type: 'varchar', length: 20, ...ascii }) journal!: string;

  @ManyToOne('TenantryTenant', { onDelete: 'CASCADE' })
  @JoinColumn(toTenant('fk_position_journal', 'journal'))
  tenant?: object;

  /** `webhook:<id>` or `handler:<name>` */
  @PrimaryColumn({ type: 'varchar', length: 80, ...ascii }) subscription!: string;

  /** 0 of a handler. */
  @Index('ix_position_webhook')
  @Column({ name: 'webhook_id', type: 'bigint', transformer: id })
  webhookId!: number;

  /** Of the last entry that was taken, or of the tree when no later entry was there. */
  @Column({ type: 'bigint', transformer: id }) version!: number;
  @Column({ type: 'integer' }) seq!: number;
  /** Failed tries of the next entry. */
  @Column({ type: 'integer' }) attempts!: number;
  @Column({ name: 'failing_since', ...instant, nullable: true })
  failingSince!: Date | null;
  /** The next try is not before that. */
  @Column({ name: 'retry_at', ...instant, nullable: true }) retryAt!: Date | null;
}

/** Which process serves a subscription. A process that dies leaves it to others when it expires. */
@Entity('tenantry_lease', BY_MIGRATIONS)
export class TenantryLease {
  @PrimaryColumn({ type: 'varchar', length: 80, ...ascii }) name!: string;
  @Column({ type: 'varchar', length: 36, ...ascii }) owner!: string;
  @Column({ name: 'expires_at', ...instant }) expiresAt!: Date;
}
