import { createHash } from 'node:crypto';
import { Column, Entity, Generated, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { BY_MIGRATIONS, ascii, id, instant, text, toTenant } from '../../database/columns';
import { usernameKey } from '../../tenancy/account-name';
import type { TenantOwned } from '../../tenancy/tenant-bound';
import { TenantryTenant } from '../../tenant/tenant.entity';
import { Grantee } from './grantee.entity';

/** A user of a tenant, who may sign in and belong to a department. */
@Entity('tenantry_account', BY_MIGRATIONS)
@Index('ux_account_username', ['tenantId', 'username', 'nameKey'], { unique: true })
@Index('ux_account_username_key', ['tenantId', 'usernameKey', 'nameKey'], { unique: true })
@Index('ix_account_members', ['tenantId', 'delFlag', 'deptId', 'userId'])
@Index('ix_account_live', ['tenantId', 'delFlag', 'userId'])
export class AccountEntity extends Grantee implements TenantOwned {
  @PrimaryColumn({ name: 'user_id', type: 'bigint', transformer: id })
  @Generated('increment')
  userId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;

  @ManyToOne(() => TenantryTenant)
  @JoinColumn(toTenant('fk_account_tenant'))
  tenant?: TenantryTenant;

  @Column({ type: 'varchar', length: 64, ...text }) username!: string;
  /** What it is compared by; a name of version 0.1 that looks like another is its own key. Null where 0.1 wrote it. */
  @Column({ name: 'username_key', type: 'varchar', length: 64, nullable: true, ...text })
  usernameKey!: string | null;
  /** 0 while the account lives, then its id: a deleted account gives its name free. */
  @Column({ name: 'name_key', type: 'bigint', transformer: id }) nameKey!: number;
  @Column({ name: 'password_hash', type: 'varchar', length: 255, ...ascii }) passwordHash!: string;
  @Column({ name: 'dept_id', type: 'bigint', nullable: true, transformer: id }) deptId!: number | null;
  @Column({ type: 'varchar', length: 64, nullable: true, ...text }) nickname!: string | null;
  @Column({ type: 'varchar', length: 100, nullable: true, ...text }) email!: string | null;
  @Column({ type: 'varchar', length: 32, nullable: true, ...text }) phone!: string | null;
  /** Raised by every sign-in, so that it collides with changes of the account, also between nodes of a cluster. */
  @Column({ name: 'sign_ins', type: 'bigint', default: 0, transformer: id }) signIns!: number;
}

/**
 * A key of a program, which goes where a token goes. Only a hash of its secret is kept. It may be restored by nobody: a deleted one
 * is only kept for the journal.
 */
@Entity('tenantry_key', BY_MIGRATIONS)
@Index('ux_key_name', ['tenantId', 'name', 'nameKey'], { unique: true })
@Index('ux_key_secret', ['secretHash'], { unique: true })
@Index('ix_key_live', ['tenantId', 'delFlag', 'keyId'])
export class KeyEntity extends Grantee implements TenantOwned {
  @PrimaryColumn({ name: 'key_id', type: 'bigint', transformer: id })
  @Generated('increment')
  keyId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;

  @ManyToOne(() => TenantryTenant)
  @JoinColumn(toTenant('fk_key_tenant'))
  tenant?: TenantryTenant;

  @Column({ type: 'varchar', length: 60, ...text }) name!: string;
  /** 0 while the key lives, then its id: a deleted key gives its name free. */
  @Column({ name: 'name_key', type: 'bigint', transformer: id }) nameKey!: number;
  /** SHA-256 of the secret, in hexadecimal digits. */
  @Column({ name: 'secret_hash', type: 'varchar', length: 64, ...ascii }) secretHash!: string;
  /** Names with spaces between them. */
  @Column({ type: 'varchar', length: 500, ...ascii }) permissions!: string;
  @Column({ name: 'end_time', ...instant, nullable: true }) endTime!: Date | null;
  /** To the minute, and written at most once a minute by each process. */
  @Column({ name: 'last_used_time', ...instant, nullable: true }) lastUsedTime!: Date | null;
}

/**
 * One sign-in: a family of refresh tokens of which only the newest is good. Kept as a hash. When it is over it stays for some time, as
 * the record of the sign-in. It has no foreign key to its tenant: to check it MySQL would wait for every structural write of the tenant.
 */
@Entity('tenantry_session', BY_MIGRATIONS)
@Index('ix_session_begun', ['tenantId', 'createdAt', 'sessionId'])
@Index('ix_session_begun_by', ['tenantId', 'userId', 'createdAt', 'sessionId'])
export class SessionEntity implements TenantOwned {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 36, ...ascii }) sessionId!: string;
  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;
  @Column({ name: 'user_id', type: 'bigint', transformer: id }) userId!: number;
  @Column({ name: 'refresh_hash', type: 'varchar', length: 64, ...ascii }) refreshHash!: string;
  @Column({ name: 'created_at', ...instant }) createdAt!: Date;

  @Index('ix_session_expires')
  @Column({ name: 'expires_at', ...instant })
  expiresAt!: Date;
  /** The permissions that its tokens are limited to, with spaces between them; null: nothing limits them. */
  @Column({ type: 'varchar', length: 500, nullable: true, ...ascii }) scope!: string | null;
  /** Where it began: an IPv4 address or an IPv6 network. Null where addresses are not kept. */
  @Column({ type: 'varchar', length: 45, nullable: true, ...ascii }) client!: string | null;
  /** When the newest refresh token was given for another, and to which client; null before the first refresh. */
  @Column({ name: 'refreshed_at', ...instant, nullable: true }) refreshedAt!: Date | null;
  @Column({ name: 'refreshed_client', type: 'varchar', length: 45, nullable: true, ...ascii })
  refreshedClient!: string | null;
  /** Signed out, ended by an administrator, or because an old token was used again. */
  @Column({ name: 'ended_at', ...instant, nullable: true }) endedAt!: Date | null;
}

/** Why a sign-in was refused, as far as it is recorded. */
export type RecordedReason = 'wrong_password' | 'disabled';

/**
 * A wrong password: for which account, from which client, and when. Written alike for names that exist and names that do
 * not. The account is a hash: people type passwords where the name belongs. For an account that exists it is also the record of
 * a refused sign-in: then tenant, account and reason are told.
 */
@Entity('tenantry_failed_sign_in', BY_MIGRATIONS)
@Index('ix_failed_sign_in_account', ['accountHash', 'client', 'failedAt'])
@Index('ix_failed_sign_in_tenant', ['tenantId', 'failedAt', 'attemptId'])
@Index('ix_failed_sign_in_user', ['tenantId', 'userId', 'failedAt', 'attemptId'])
export class FailedSignInEntity {
  /** Made before the row is written: a second try to write it changes nothing. */
  @PrimaryColumn({ name: 'attempt_id', type: 'varchar', length: 36, ...ascii }) attemptId!: string;
  /** Whom it counts against. */
  @Column({ name: 'account_hash', type: 'varchar', length: 64, ...ascii }) accountHash!: string;
  /** An IPv4 address or an IPv6 network. */
  @Column({ type: 'varchar', length: 45, ...ascii }) client!: string;

  @Index('ix_failed_sign_in_time')
  @Column({ name: 'failed_at', ...instant })
  failedAt!: Date;
  @Column({ name: 'tenant_id', type: 'varchar', length: 20, nullable: true, ...ascii }) tenantId!:
    string | null;
  @Column({ name: 'user_id', type: 'bigint', nullable: true, transformer: id }) userId!: number | null;
  @Column({ type: 'varchar', length: 16, nullable: true, ...ascii }) reason!: RecordedReason | null;
}

export function accountHash(tenantId: string, username: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenantId, usernameKey(username)]))
    .digest('hex');
}

/** The hash of no account: a failure that has it counts against nobody. */
export const FORGIVEN = '';
