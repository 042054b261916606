/** A tenant's package as it is read. */
export class PackageView {
  menuIds!: string;
}

/** The six total quotas. */
export class QuotaView {
  enterpriseQuery!: number;
  annualReportQuery!: number;
  chainReport!: number;
  businessReport!: number;
  riskReport!: number;
  merchant!: number;
}

/** The seven rules; null where none is configured. */
export class RuleView {
  modelZr!: string | null;
  modelPf!: string | null;
  modelEd!: string | null;
  catalogZr!: string | null;
  catalogPf!: string | null;
  catalogEd!: string | null;
  catalogRw!: string | null;
}

/** What every view of a tenant shows. */
export class TenantSummaryDto {
  /** Internal id, used in paths. */
  id!: string;
  /** Business code. */
  tenantId!: string;
  tenantName!: string;
  /** Code of the parent; null only for the platform tenant. */
  tenantParent!: string | null;
  startTime!: string | null;
  endTime!: string | null;
  contactUserName!: string | null;
  contactPhone!: string | null;
  companyName!: string | null;
  status!: string;
  accountCount!: number;
}

/** A tenant as it is read. */
export class TenantDto extends TenantSummaryDto {
  packageBo!: PackageView;
  quotaBo!: QuotaView;
  ruleBo!: RuleView;
}
