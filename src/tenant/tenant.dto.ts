import {
  ChoiceField,
  DayField,
  IfSent,
  IntegerField,
  ObjectField,
  OpaqueField,
  RequiredTextField,
  TextField,
} from '../web/fields';
import { IdListField, RequiredTextIdField } from '../web/id-fields';
import { ReadOnlyFields } from '../web/unknown-names';
import type { TenantRowDto } from './tenant-view.dto';

const RULE_BYTES = 64 * 1024;
const MENU_IDS = 10_000;
const UNLIMITED = -1;

/** The package of a tenant. */
export class PackageBo {
  /**
   * Ids of the authorised menus, separated by commas; up to 10,000. Default: the empty string.
   * @example "1, 100, 101"
   */
  @IdListField(MENU_IDS) menuIds?: string;
}

/** The quotas of a tenant: integers from -1 (unlimited); not sent is 0. */
export class QuotaBo {
  /** @example 500 */
  @IntegerField(UNLIMITED) enterpriseQuery?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) annualReportQuery?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) chainReport?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) businessReport?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) riskReport?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) merchant?: number;

  /**
   * Stored but never returned; an update that does not send it leaves it as it is. The same holds for the next three.
   * @example 0
   */
  @IntegerField(UNLIMITED) riskReportUsed?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) zr?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) credit?: number;
  /** @example 0 */
  @IntegerField(UNLIMITED) pf?: number;
}

/** The rules of a tenant: opaque texts of up to 64 KB, returned to the byte. */
export class RuleBo {
  @OpaqueField(RULE_BYTES) modelZr?: string;
  @OpaqueField(RULE_BYTES) modelPf?: string;
  @OpaqueField(RULE_BYTES) modelEd?: string;
  @OpaqueField(RULE_BYTES) catalogZr?: string;
  @OpaqueField(RULE_BYTES) catalogPf?: string;
  @OpaqueField(RULE_BYTES) catalogEd?: string;
  @OpaqueField(RULE_BYTES) catalogRw?: string;
}

/** The fields of a tenant that a client may send, its name aside. Not sent and null mean the same: the default. */
@ReadOnlyFields(['id', 'tenantId', 'state', 'hasChildren'] satisfies (keyof TenantRowDto)[])
class TenantFieldsDto {
  /**
   * Code of the parent tenant: the caller's own or one below it. Not sent: the caller's own on create, unchanged on update.
   * @example "000000"
   */
  @TextField(20) tenantParent?: string;

  /** First day of service; not sent: open. @example "2026-01-01" */
  @DayField() startTime?: string;

  /** Last day of service; not sent: open. @example "2036-12-31" */
  @DayField('startTime') endTime?: string;
  /** @example 张三 */
  @TextField(64) contactUserName?: string;
  /** @example "13800138000" */
  @TextField(64) contactPhone?: string;
  /** @example 示例科技有限公司 */
  @TextField(128) companyName?: string;

  /** `0` normal, `1` disabled. Default: `0`. @example "0" */
  @ChoiceField('0', '1') status?: string;

  /** Limit on the number of accounts; -1 is unlimited, and the default. @example -1 */
  @IntegerField(UNLIMITED) accountCount?: number;
  @ObjectField(() => PackageBo) packageBo?: PackageBo;
  @ObjectField(() => QuotaBo) quotaBo?: QuotaBo;
  @ObjectField(() => RuleBo) ruleBo?: RuleBo;
}

/** A new tenant. */
export class CreateTenantDto extends TenantFieldsDto {
  /** @example 示例科技 */
  @RequiredTextField(128) tenantName!: string;
}

/** A tenant as it shall be: fields not sent are reset; only the parent and the four extra quotas stay. */
export class UpdateTenantDto extends CreateTenantDto {
  /** @example "1099511627776000000" */
  @RequiredTextIdField() id!: string;
}

/** What shall change of a tenant; null resets a field. */
export class TenantChangesDto extends TenantFieldsDto {
  /** @example 示例科技 */
  @IfSent()
  @RequiredTextField(128)
  tenantName?: string;
}

/** Where a tenant is put back. */
export class RestoreTenantDto {
  /** Code of the parent to put it under. Not sent: the parent that it had. */
  @TextField(20) tenantParent?: string;
}

/** What shall change of the tenant that the path names. */
export class PatchTenantDto extends TenantChangesDto {
  /** As in the path, or not sent. */
  @TextField(20) id?: string;
}
