import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Audited } from '../database/audited';
import { ascii, text } from '../database/columns';
import type { TreeRow } from '../tree/tree-table';
import { QuotaColumns, RuleColumns } from './tenant.columns';

@Entity('tenantry_tenant')
@Index('ix_tenant_path', ['ancestors'])
@Index('ix_tenant_children', ['tenantParent', 'id'])
@Index('ix_tenant_end', ['endTime', 'id'])
export class TenantEntity extends Audited implements TreeRow {
  @PrimaryColumn({ type: 'varchar', length: 20, ...ascii })
  id!: string;

  /** Business code, the value other rows refer to. */
  @Index('ux_tenant_code', { unique: true })
  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;

  @Column({ name: 'tenant_name', type: 'varchar', length: 128, ...text })
  tenantName!: string;

  /** Code of the parent; null only for the platform. */
  @Column({ name: 'tenant_parent', type: 'varchar', length: 20, nullable: true, ...ascii })
  tenantParent!: string | null;

  /** Codes from the root `0` down to the parent. */
  @Column({ type: 'varchar', length: 1100, ...ascii })
  ancestors!: string;

  @Column({ type: 'integer' })
  depth!: number;

  /** First and last day of service, `YYYY-MM-DD`; null is open. */
  @Column({ name: 'start_time', type: 'varchar', length: 10, nullable: true, ...ascii })
  startTime!: string | null;

  @Column({ name: 'end_time', type: 'varchar', length: 10, nullable: true, ...ascii })
  endTime!: string | null;

  @Column({ name: 'contact_user_name', type: 'varchar', length: 64, nullable: true, ...text })
  contactUserName!: string | null;

  @Column({ name: 'contact_phone', type: 'varchar', length: 64, nullable: true, ...text })
  contactPhone!: string | null;

  @Column({ name: 'company_name', type: 'varchar', length: 128, nullable: true, ...text })
  companyName!: string | null;

  /** Limit on the number of accounts; -1 is none. */
  @Column({ name: 'account_count', type: 'integer' })
  accountCount!: number;

  /** Authorised menus, as they were sent. */
  @Column({ name: 'menu_ids', type: 'mediumtext', ...ascii })
  menuIds!: string;

  @Column(() => QuotaColumns, { prefix: false })
  quota!: QuotaColumns;

  @Column(() => RuleColumns, { prefix: false })
  rule!: RuleColumns;

  /** Raised as the first statement of every structural write to this tenant's trees. */
  @Column({ name: 'tree_ver', type: 'bigint' })
  treeVersion!: string;

  get key(): string {
    return this.tenantId;
  }
}

/** What a client decides about a tenant, its place and its extra quotas aside. */
export type TenantFields = Pick<
  TenantEntity,
  | 'tenantName'
  | 'startTime'
  | 'endTime'
  | 'contactUserName'
  | 'contactPhone'
  | 'companyName'
  | 'accountCount'
  | 'menuIds'
  | 'rule'
  | 'status'
> & { quota: Partial<QuotaColumns> };
