import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, id } from '../database/columns';
import type { TenantOwned } from '../tenancy/tenant-bound';

/**
 * One sign-in: a family of refresh tokens of which only the newest is good. Kept as a hash. It has no foreign key to its
 * tenant: to check it MySQL would wait for every structural write of the tenant.
 */
@Entity('tenantry_session')
@Index('ix_session_user', ['tenantId', 'userId'])
export class SessionEntity implements TenantOwned {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 36, ...ascii })
  sessionId!: string;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;

  @Column({ name: 'user_id', type: 'bigint', transformer: id })
  userId!: number;

  @Column({ name: 'refresh_hash', type: 'varchar', length: 64, ...ascii })
  refreshHash!: string;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Index('ix_session_expires')
  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;

  /** Signed out, or ended because an old token was used again. */
  @Column({ name: 'ended_at', type: 'datetime', precision: 3, nullable: true })
  endedAt!: Date | null;
}
