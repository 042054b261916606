import { Column, Entity, Generated, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Audited } from '../database/audited';
import { ascii, id, text } from '../database/columns';
import type { TenantOwned } from '../tenancy/tenant-bound';
import { TenantEntity } from './tenant.entity';

/** Who signs in, and who belongs to a department. */
@Entity('tenantry_account')
@Index('ux_account_username', ['tenantId', 'username', 'nameKey'], { unique: true })
@Index('ux_account_username_key', ['tenantId', 'usernameKey', 'nameKey'], { unique: true })
@Index('ix_account_members', ['tenantId', 'delFlag', 'deptId', 'userId'])
@Index('ix_account_live', ['tenantId', 'delFlag', 'userId'])
export class AccountEntity extends Audited implements TenantOwned {
  @PrimaryColumn({ name: 'user_id', type: 'bigint', transformer: id })
  @Generated('increment')
  userId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;

  @ManyToOne(() => TenantEntity)
  @JoinColumn({
    name: 'tenant_id',
    referencedColumnName: 'tenantId',
    foreignKeyConstraintName: 'fk_account_tenant',
  })
  tenant?: TenantEntity;

  @Column({ type: 'varchar', length: 64, ...text })
  username!: string;

  /** What it is compared by; a name of version 0.1 that looks like another is its own key. Null where 0.1 wrote it. */
  @Column({ name: 'username_key', type: 'varchar', length: 64, nullable: true, ...text })
  usernameKey!: string | null;

  /** 0 while the account lives, then its id: a deleted account gives its name free. */
  @Column({ name: 'name_key', type: 'bigint', transformer: id })
  nameKey!: number;

  @Column({ name: 'password_hash', type: 'varchar', length: 255, ...ascii })
  passwordHash!: string;

  @Column({ name: 'dept_id', type: 'bigint', nullable: true, transformer: id })
  deptId!: number | null;

  @Column({ type: 'varchar', length: 64, nullable: true, ...text })
  nickname!: string | null;

  @Column({ type: 'varchar', length: 100, nullable: true, ...text })
  email!: string | null;

  @Column({ type: 'varchar', length: 32, nullable: true, ...text })
  phone!: string | null;

  /** Raised by every sign-in, so that it collides with changes of the account, also between nodes of a cluster. */
  @Column({ name: 'sign_ins', type: 'bigint', default: 0, transformer: id })
  signIns!: number;

  /** Only version 0.1 uses this and `lockedUntil`; they are here while it may run beside this one. */
  @Column({ name: 'failed_logins', type: 'integer' })
  failedLogins!: number;

  @Column({ name: 'locked_until', type: 'datetime', precision: 3, nullable: true })
  lockedUntil!: Date | null;

  /** Comma-separated role names. */
  @Column({ type: 'varchar', length: 255, ...ascii })
  roles!: string;
}

/** What a client decides about an account, its password aside. */
export type AccountFields = Pick<
  AccountEntity,
  'username' | 'nickname' | 'deptId' | 'email' | 'phone' | 'roles' | 'status'
>;
