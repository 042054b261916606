import { ChoiceField, EmailField, IntegerField, TextField } from '../web/fields';
import { IdField, RequiredIdField } from '../web/id-fields';
import { Choice, Int32, Int64, TimeText } from '../web/view-fields';

/** The fields of a department that a client sends. Not sent and null mean the same: the default. */
export class CreateDeptDto {
  /**
   * Parent department; 0 is the top level, and the default on create.
   * @example 0
   */
  @IdField()
  parentId?: number;

  /**
   * Default: the empty string.
   * @example 总公司
   */
  @TextField(64)
  deptName?: string;

  /**
   * Display order; a smaller number is shown earlier. Default: 0.
   * @example 1
   */
  @IntegerField()
  orderNum?: number;

  /**
   * Name of the person in charge. Default: null.
   * @example 张三
   */
  @TextField(64)
  leader?: string;

  /**
   * An 11-digit mobile number is recommended. Default: null.
   * @example "13800138000"
   */
  @TextField(32)
  phone?: string;

  /**
   * An e-mail address or the empty string. Default: null.
   * @example office@example.com
   */
  @EmailField(100)
  email?: string;

  /**
   * `0` normal, `1` disabled. Default: `0`.
   * @example "0"
   */
  @ChoiceField('0', '1')
  status?: string;

  /**
   * Only the caller's own tenant is accepted.
   * @example "000000"
   */
  @TextField(64)
  tenantId?: string;
}

/** A department as it shall be: fields not sent are reset, only a `parentId` not sent stays as it is. */
export class UpdateDeptDto extends CreateDeptDto {
  /** @example 1 */
  @RequiredIdField()
  deptId!: number;
}

/** What shall change of a department; null resets a field. */
export class PatchDeptDto extends CreateDeptDto {
  /** As in the path, or not sent. */
  @IdField()
  deptId?: number;
}

/** A department as it is read. */
export class DeptDto {
  /** @example 1 */
  @Int64()
  deptId!: number;
  /**
   * 0 is the top level.
   * @example 0
   */
  @Int64()
  parentId!: number;
  /**
   * Ids from the root `0` down to the parent, separated by commas.
   * @example "0"
   */
  ancestors!: string;
  /** @example 总公司 */
  deptName!: string;
  /** @example 1 */
  @Int32()
  orderNum!: number;
  /** @example 张三 */
  leader!: string | null;
  /** @example "13800138000" */
  phone!: string | null;
  /** @example office@example.com */
  email!: string | null;
  /** `0` normal, `1` disabled. */
  @Choice('0', '1')
  status!: string;
  /** `0`: deleted departments are not read. */
  @Choice('0', '2')
  delFlag!: string;
  /** @example "000000" */
  tenantId!: string;
  /** @example admin */
  createBy!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText()
  createTime!: string;
  /** Empty when it was never changed. */
  updateBy!: string;
  /** Null when it was never changed. */
  @TimeText()
  updateTime!: string | null;
}
