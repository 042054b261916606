import { ChoiceParam, DayField, SearchParam } from '../web/fields';
import { CodeParam } from '../web/id-fields';
import { PageQuery } from '../web/page-query.dto';
import { Choice, DayText, Int32 } from '../web/view-fields';
import { TENANT_STATES, type LiveState, type TenantState } from './tenant-state';

/** A tenant's package as it is read. */
export class PackageView {
  /** @example "1, 100, 101" */
  menuIds!: string;
}

/** The six total quotas. */
export class QuotaView {
  @Int32() enterpriseQuery!: number;
  @Int32()
  annualReportQuery!: number;
  @Int32() chainReport!: number;
  @Int32()
  businessReport!: number;
  @Int32() riskReport!: number;
  @Int32()
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
  /** Internal id, used in paths. @example "1" */
  id!: string;
  /** Business code. @example "000000" */
  tenantId!: string;
  /** @example 示例科技 */
  tenantName!: string;
  /** Code of the parent; null only for the platform tenant. */
  tenantParent!: string | null;
  @DayText() startTime!: string | null;
  @DayText()
  endTime!: string | null;
  contactUserName!: string | null;
  contactPhone!: string | null;
  companyName!: string | null;
  /** `0` normal, `1` disabled. */
  @Choice('0', '1') status!: string;
  /** Limit on the number of accounts; -1 is unlimited. */
  @Int32() accountCount!: number;
}

/** A tenant as it is read. */
export class TenantDto extends TenantSummaryDto {
  packageBo!: PackageView;
  quotaBo!: QuotaView;
  ruleBo!: RuleView;
}

/** Which tenants are listed. All filters given must match. */
export class TenantListQuery extends PageQuery {
  /** Only children of the tenant with this code. */
  @CodeParam() tenantParent?: string;
  /** Only the tenant with this code. */
  @CodeParam() tenantId?: string;
  /** A part of the name, exactly as written. */
  @SearchParam(128) tenantName?: string;
  /** Only tenants in this state today: `ACTIVE`, `DISABLED`, `NOT_STARTED` or `EXPIRED`. */
  @ChoiceParam(...TENANT_STATES) state?: LiveState;
  /** Tenants whose last day of service is before this one. */
  @DayField() expiresBefore?: string;
}

/** A tenant in a list: without its package, quotas and rules, which come with the tenant itself. */
export class TenantRowDto extends TenantSummaryDto {
  /** The state today. */
  @Choice(...TENANT_STATES) state!: TenantState;
  hasChildren!: boolean;
}
