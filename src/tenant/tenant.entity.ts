import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, text } from '../database/columns';

@Entity('tenantry_tenant')
export class TenantEntity {
  @PrimaryColumn({ type: 'varchar', length: 20, ...ascii })
  id!: string;

  /** Business code, the value other rows refer to. */
  @Index('ux_tenant_code', { unique: true })
  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;

  @Column({ name: 'tenant_name', type: 'varchar', length: 128, ...text })
  tenantName!: string;

  @Column({ type: 'varchar', length: 1, ...ascii })
  status!: string;

  @Column({ name: 'del_flag', type: 'varchar', length: 1, ...ascii })
  delFlag!: string;

  /** Raised as the first statement of every structural write to this tenant's trees. */
  @Column({ name: 'tree_ver', type: 'bigint' })
  treeVersion!: string;

  @Column({ name: 'create_by', type: 'varchar', length: 64, ...text })
  createBy!: string;

  @Column({ name: 'create_time', type: 'datetime', precision: 3 })
  createTime!: Date;

  @Column({ name: 'update_by', type: 'varchar', length: 64, ...text })
  updateBy!: string;

  @Column({ name: 'update_time', type: 'datetime', precision: 3, nullable: true })
  updateTime!: Date | null;
}
