import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Audited } from '../database/audited';
import { BY_MIGRATIONS, ascii, text } from '../database/columns';
import type { TreeRow } from '../database/tree-table';
import { namesOf, type ClientFields } from '../resource/fields';
import type { RuleView, TenantDto } from './tenant-view.dto';
import type { CreateTenantDto, QuotaBo, RuleBo } from './tenant.dto';

/** The six totals that are read, and four keys that are only kept. */
export class QuotaColumns {
  @Column({ name: 'quota_enterprise_query', type: 'integer' }) enterpriseQuery!: number;
  @Column({ name: 'quota_annual_report_query', type: 'integer' }) annualReportQuery!: number;
  @Column({ name: 'quota_chain_report', type: 'integer' }) chainReport!: number;
  @Column({ name: 'quota_business_report', type: 'integer' }) businessReport!: number;
  @Column({ name: 'quota_risk_report', type: 'integer' }) riskReport!: number;
  @Column({ name: 'quota_merchant', type: 'integer' }) merchant!: number;
  @Column({ name: 'quota_risk_report_used', type: 'integer' }) riskReportUsed!: number;
  @Column({ name: 'quota_zr', type: 'integer' }) zr!: number;
  @Column({ name: 'quota_credit', type: 'integer' }) credit!: number;
  @Column({ name: 'quota_pf', type: 'integer' }) pf!: number;
}

/** Opaque texts: 64 KB each does not fit into MySQL's TEXT, by one byte. */
export class RuleColumns {
  @Column({ name: 'rule_model_zr', type: 'text', nullable: true, ...text }) modelZr!: string | null;
  @Column({ name: 'rule_model_pf', type: 'text', nullable: true, ...text }) modelPf!: string | null;
  @Column({ name: 'rule_model_ed', type: 'text', nullable: true, ...text }) modelEd!: string | null;
  @Column({ name: 'rule_catalog_zr', type: 'text', nullable: true, ...text }) catalogZr!: string | null;
  @Column({ name: 'rule_catalog_pf', type: 'text', nullable: true, ...text }) catalogPf!: string | null;
  @Column({ name: 'rule_catalog_ed', type: 'text', nullable: true, ...text }) catalogEd!: string | null;
  @Column({ name: 'rule_catalog_rw', type: 'text', nullable: true, ...text }) catalogRw!: string | null;
}

@Entity('tenantry_tenant', BY_MIGRATIONS)
@Index('ix_tenant_path', ['ancestors'])
@Index('ix_tenant_children', ['tenantParent', 'id'])
@Index('ix_tenant_end', ['endTime', 'id'])
export class TenantryTenant extends Audited implements TreeRow {
  @PrimaryColumn({ type: 'varchar', length: 20, ...ascii }) id!: string;
  /** Business code, the value other rows refer to. */
  @Index('ux_tenant_code', { unique: true })
  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;
  @Column({ name: 'tenant_name', type: 'varchar', length: 128, ...text }) tenantName!: string;
  /** Code of the parent; null only for the platform. */
  @Column({ name: 'tenant_parent', type: 'varchar', length: 20, nullable: true, ...ascii })
  tenantParent!: string | null;
  /** Codes from the root `0` down to the parent. */
  @Column({ type: 'varchar', length: 1100, ...ascii }) ancestors!: string;
  @Column({ type: 'integer' }) depth!: number;
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
  /** Limit on the number of accounts; -1 is unlimited. */
  @Column({ name: 'account_count', type: 'integer' }) accountCount!: number;
  /** Authorised menus, as they were sent. */
  @Column({ name: 'menu_ids', type: 'text', ...ascii }) menuIds!: string;
  @Column(() => QuotaColumns, { prefix: false }) quota!: QuotaColumns;
  @Column(() => RuleColumns, { prefix: false }) rule!: RuleColumns;
  /** Raised as the first statement of every structural write to this tenant's trees. */
  @Column({ name: 'tree_ver', type: 'bigint' }) treeVersion!: string;

  get key(): string {
    return this.tenantId;
  }
}

/** What a client decides about a tenant by fields that are columns; its name has no default. */
type TenantColumns = ClientFields<
  TenantryTenant,
  TenantDto,
  Exclude<keyof CreateTenantDto, `${string}Bo` | 'tenantParent'>
>;

export const TENANT_DEFAULTS: Omit<TenantColumns, 'tenantName'> = {
  startTime: null,
  endTime: null,
  contactUserName: null,
  contactPhone: null,
  companyName: null,
  status: '0',
  accountCount: -1,
};

/** The six totals and four keys that no read returns, as a new tenant has them. */
export const QUOTA_DEFAULTS: ClientFields<QuotaColumns, QuotaColumns, keyof QuotaBo> = {
  enterpriseQuery: 0,
  annualReportQuery: 0,
  chainReport: 0,
  businessReport: 0,
  riskReport: 0,
  merchant: 0,
  riskReportUsed: 0,
  zr: 0,
  credit: 0,
  pf: 0,
};

export const RULE_DEFAULTS: ClientFields<RuleColumns, RuleView, keyof RuleBo> = {
  modelZr: null,
  modelPf: null,
  modelEd: null,
  catalogZr: null,
  catalogPf: null,
  catalogEd: null,
  catalogRw: null,
};

/** The columns that every view of a tenant shows, in the order of its fields. */
export const SUMMARY_COLUMNS = [
  'id',
  'tenantId',
  'tenantName',
  'tenantParent',
  ...namesOf(TENANT_DEFAULTS),
] as const;

/** What lists read of a tenant: what they show, and what its state follows from. */
export const TENANT_LISTED = [...SUMMARY_COLUMNS, 'delFlag'] as const;
export type TenantListRow = Pick<TenantryTenant, (typeof TENANT_LISTED)[number]>;

/** What a client decides about a tenant, its place aside. */
export type TenantFields = TenantColumns & Pick<TenantryTenant, 'menuIds' | 'rule' | 'quota'>;

/** The ids in the list of menus as it was sent, each once, in their order. */
export function menusOf({ menuIds }: { readonly menuIds: string }): number[] {
  const ids = menuIds.split(',').map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== '').map(Number))];
}
