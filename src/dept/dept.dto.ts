import { MAX_DEPTH } from '../database/tree-path';
import {
  ChoiceField,
  ChoiceParam,
  EmailField,
  FlagParam,
  IntegerField,
  TextField,
  NumberParam,
  SearchParam,
} from '../web/fields';
import { IdField, RequiredIdField, RequiredIdsField, IdsParam } from '../web/id-fields';
import { PageQuery } from '../web/page-query.dto';
import { ReadOnlyFields } from '../web/unknown-names';
import { Choice, Int32, Int64, TimeText } from '../web/view-fields';

/** The fields of a department that a client sends. Not sent and null mean the same: the default. */
@ReadOnlyFields([
  ...([
    'deptId',
    'ancestors',
    'delFlag',
    'hasChildren',
    'inScope',
    'children',
  ] satisfies (keyof DeptNodeDto)[]),
  ...(['createBy', 'createTime', 'updateBy', 'updateTime'] satisfies (keyof DeptNodeDto)[]),
])
export class CreateDeptDto {
  /** Parent department; 0 is the top level, and the default on create. @example 0 */
  @IdField()
  parentId?: number;
  /** Default: the empty string. @example 总公司 */
  @TextField(64)
  deptName?: string;
  /** Display order; a smaller number is shown earlier. Default: 0. @example 1 */
  @IntegerField()
  orderNum?: number;
  /** Name of the person in charge. Default: null. @example 张三 */
  @TextField(64)
  leader?: string;
  /** An 11-digit mobile number is recommended. Default: null. @example "13800138000" */
  @TextField(32)
  phone?: string;
  /** An e-mail address or the empty string. Default: null. @example office@example.com */
  @EmailField(100)
  email?: string;
  /** `0` normal, `1` disabled. Default: `0`. @example "0" */
  @ChoiceField('0', '1')
  status?: string;
  /** Only the caller's own tenant is accepted. */
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
  /** 0 is the top level. @example 0 */
  @Int64()
  parentId!: number;
  /** Ids from the root `0` down to the parent, separated by commas. @example "0" */
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
  /** `0`; `2` only in the list of deleted departments. */
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

/** Which departments are listed. All filters given must match. */
export class DeptListQuery extends PageQuery {
  /** Children of this department; 0 is the top level. */
  @IdField()
  parentId?: number;
  /** All below this department, itself not included. */
  @IdField()
  ancestorId?: number;
  /** A part of the name, exactly as written. */
  @SearchParam(64)
  deptName?: string;
  /** The leader's whole name. */
  @SearchParam(64)
  leader?: string;
  /** `0` normal, `1` disabled. */
  @ChoiceParam('0', '1')
  status?: string;
  /** Up to 500 ids, separated by commas. */
  @IdsParam()
  ids?: number[];
  /** Deleted departments that can be restored, for administrators. Not together with `ancestorId` and `asOf`. */
  @FlagParam()
  deleted?: boolean;
  /** Only departments in the caller's data scope, and those above them. Not together with `deleted` and `asOf`. */
  @FlagParam()
  inScope?: boolean;
}

/** What is deleted. */
export class DeleteDeptsQuery {
  /** The one department with all below it, up to 10,000. A restore of it brings all of them back. */
  @FlagParam()
  subtree?: boolean;
}

/** Which part of the tree is read. */
export class DeptTreeQuery {
  /** The department at the top; 0 or none is the whole tree. */
  @IdField()
  rootId?: number;
  /** How many levels, the top one included. */
  @NumberParam(1, MAX_DEPTH)
  depth?: number;
  /** Only departments of this status, with the chain of their ancestors. */
  @ChoiceParam('0', '1')
  status?: string;
  /** Only departments with this in their names, with the chain of their ancestors. */
  @SearchParam(64)
  deptName?: string;
  /** Only departments in the caller's data scope, with the chain of their ancestors. Not together with `asOf`. */
  @FlagParam()
  inScope?: boolean;
}

/** Children of one department in their new order. */
export class OrderDeptsDto {
  /** The department whose children these are; 0 is the top level. @example 0 */
  @IdField()
  parentId?: number;
  /** They get `orderNum` 1, 2, 3 and so on; children that are not listed keep theirs. @example [1] */
  @RequiredIdsField(500)
  deptIds!: number[];
}

/** A department in a list. */
export class DeptRowDto extends DeptDto {
  hasChildren!: boolean;
  /** Whether it is in the caller's data scope, or only above what is. Told with `inScope=true`. */
  inScope?: boolean;
}

/** A department in a tree. */
export class DeptNodeDto extends DeptRowDto {
  children!: DeptNodeDto[];
}

/** A tree, or as much of it as one answer holds. */
export class DeptTreeDto {
  rows!: DeptNodeDto[];
  /** Whether departments were left out because there are more than 5,000. */
  truncated!: boolean;
}
