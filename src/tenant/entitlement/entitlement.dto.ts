import { Choice, DayText, Int32, Int64, Numbers } from '../../web/view-fields';
import { QuotaDto } from '../quota/quota.dto';
import { TENANT_STATES, type TenantState } from '../tenant-state';
import { RuleView } from '../tenant-view.dto';

/** How many accounts a tenant may have, and has. */
export class AccountUseDto {
  /** -1 is unlimited. @example 20 */
  @Int32() limit!: number;
  /** @example 12 */
  @Int64() used!: number;
}

/** What a tenant may do now. */
export class EntitlementDto {
  /** Business code. @example "000000" */
  tenantId!: string;
  /** Only an `ACTIVE` tenant is served. */
  @Choice(...TENANT_STATES) state!: TenantState;
  /** First day of service; null is open. */
  @DayText() startTime!: string | null;
  /** Last day of service; null is open. */
  @DayText() endTime!: string | null;
  /** Days after today until the last day of service: 0 on that day and after it, null when open. @example 30 */
  @Int32() daysLeft!: number | null;
  /** The authorised menus. @example [1, 100, 101] */
  @Numbers() menuIds!: number[];
  accounts!: AccountUseDto;
  quotas!: QuotaDto[];
  rules!: RuleView;
}
