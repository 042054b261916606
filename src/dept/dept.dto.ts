import { ChoiceField, EmailField, IdField, IntegerField, RequiredIdField, TextField } from '../http/fields';

/** The fields of a department that a client sends. Not sent and null mean the same: the default. */
export class CreateDeptDto {
  /**
   * Parent department; 0 is the top level.
   * @example 0
   */
  @IdField()
  parentId?: number;

  /** @example 总公司 */
  @TextField(64)
  deptName?: string;

  /**
   * Display order; a smaller number is shown earlier.
   * @example 1
   */
  @IntegerField()
  orderNum?: number;

  /**
   * Name of the person in charge.
   * @example 张三
   */
  @TextField(64)
  leader?: string;

  /**
   * An 11-digit mobile number is recommended.
   * @example "13800138000"
   */
  @TextField(32)
  phone?: string;

  /** @example office@example.com */
  @EmailField(100)
  email?: string;

  /**
   * `0` normal, `1` disabled.
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
  deptId!: number;
  parentId!: number;
  /** Ids from the root `0` down to the parent, separated by commas. */
  ancestors!: string;
  deptName!: string;
  orderNum!: number;
  leader!: string | null;
  phone!: string | null;
  email!: string | null;
  status!: string;
  delFlag!: string;
  tenantId!: string;
  createBy!: string;
  createTime!: string;
  updateBy!: string;
  updateTime!: string | null;
}
