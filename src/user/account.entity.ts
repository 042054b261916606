import { Column, Entity, Generated, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Audited } from '../database/audited';
import { ascii, id, text } from '../database/columns';
import type { TenantOwned } from '../tenancy/tenant-owned';
import { TenantEntity } from '../tenant/tenant.entity';

/** Who signs in, and who belongs to a department. */
@Entity('tenantry_account')
@Index('ux_account_username', ['tenantId', 'username'], { unique: true })
@Index('ix_account_dept', ['tenantId', 'deptId'])
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

  @Column({ name: 'password_hash', type: 'varchar', length: 255, ...ascii })
  passwordHash!: string;

  @Column({ name: 'dept_id', type: 'bigint', nullable: true, transformer: id })
  deptId!: number | null;

  /** Comma-separated role names. */
  @Column({ type: 'varchar', length: 255, ...ascii })
  roles!: string;
}
