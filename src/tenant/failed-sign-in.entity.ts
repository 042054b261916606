import { createHash } from 'node:crypto';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii } from '../database/columns';
import { usernameKey } from '../tenancy/account-name';

/**
 * A wrong password: for which account, from which client, and when. Written alike for names that exist and names that do
 * not. The account is a hash: people type passwords where the name belongs.
 */
@Entity('tenantry_failed_sign_in')
@Index('ix_failed_sign_in_account', ['accountHash', 'client', 'failedAt'])
export class FailedSignInEntity {
  /** Made before the row is written: a second try to write it changes nothing. */
  @PrimaryColumn({ name: 'attempt_id', type: 'varchar', length: 36, ...ascii })
  attemptId!: string;

  @Column({ name: 'account_hash', type: 'varchar', length: 64, ...ascii })
  accountHash!: string;

  /** An IPv4 address or an IPv6 network. */
  @Column({ type: 'varchar', length: 45, ...ascii })
  client!: string;

  @Index('ix_failed_sign_in_time')
  @Column({ name: 'failed_at', type: 'datetime', precision: 3 })
  failedAt!: Date;
}

export function accountHash(tenantId: string, username: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenantId, usernameKey(username)]))
    .digest('hex');
}
