import { ChoiceField, DayField, SearchParam } from '../web/fields';
import { CodeParam } from '../web/id-fields';
import { Choice } from '../web/view-fields';
import { PageQuery } from '../web/page-query.dto';
import { TenantSummaryDto } from './tenant-view.dto';
import { TENANT_STATES, type LiveState, type TenantState } from './tenant-state';

/** Which tenants are listed. All filters given must match. */
export class TenantListQuery extends PageQuery {
  /** Code of a tenant: its children. */
  @CodeParam()
  tenantParent?: string;

  /** A part of the name, exactly as written. */
  @SearchParam(128)
  tenantName?: string;

  /** What its users meet today. */
  @ChoiceField(...TENANT_STATES)
  state?: LiveState;

  /** Tenants whose last day of service is before this one. */
  @DayField()
  expiresBefore?: string;
}

/** A tenant in a list: without its package, quotas and rules, which come with the tenant itself. */
export class TenantRowDto extends TenantSummaryDto {
  /** On this day. */
  @Choice(...TENANT_STATES)
  state!: TenantState;
  hasChildren!: boolean;
}
