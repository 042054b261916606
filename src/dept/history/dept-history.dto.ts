import { TIME_PATTERN } from '../../time/zoned-time';
import { optional, required } from '../../web/fields';
import { IdField } from '../../web/id-fields';
import { PageQuery } from '../../web/page-query.dto';
import { AnyValue, Choice, Int64, TimeText } from '../../web/view-fields';
import { DeptListQuery, DeptTreeQuery } from '../dept.dto';

const PATTERN = `^(?:[0-9]{1,16}|${TIME_PATTERN})$`;
export const NOT_A_TIME = {
  zh: '必须为版本号，或 YYYY-MM-DD、YYYY-MM-DD HH:MM:SS、ISO 8601 格式的时间',
  en: 'must be a version, or a time as YYYY-MM-DD, YYYY-MM-DD HH:MM:SS or ISO 8601',
};
const isWhen = new RegExp(PATTERN);
const WHEN = {
  schema: { type: 'string', pattern: PATTERN, maxLength: 40 },
  check: (value: unknown) => typeof value === 'string' && isWhen.test(value),
  ...NOT_A_TIME,
} as const;

/** How a department is read. */
export class AsOfQuery {
  /** A version or a time: the department as it was then. */
  @optional(WHEN)
  asOf?: string;
}

/** Which departments are listed, now or as they were. */
export class PastDeptListQuery extends DeptListQuery {
  /** A version or a time: the children of `parentId` as they were then. Not together with `ancestorId`, `ids` and `deleted`. */
  @optional(WHEN)
  asOf?: string;
}

/** Which part of the tree is read, now or as it was. */
export class PastDeptTreeQuery extends DeptTreeQuery {
  /** A version or a time: the tree as it was then. Not together with `status` and `deptName`. */
  @optional(WHEN)
  asOf?: string;
}

/** Two versions or times to compare. */
export class DeptDiffQuery extends PageQuery {
  /** A version or a time: the organisation before. @example "2026-01-01" */
  @required(WHEN)
  from!: string;
  /** A version or a time: the organisation after. Default: now. */
  @optional(WHEN)
  to?: string;
}

/** Where a department is put back. */
export class RestoreDeptDto {
  /** The parent to put it under; 0 is the top level. Not sent: the parent that it had. */
  @IdField()
  parentId?: number;
}

/** A field that differs. */
export class FieldChangeDto {
  /** @example leader */
  field!: string;
  @AnyValue()
  before!: string | number | null;
  @AnyValue()
  after!: string | number | null;
}

export const DEPT_CHANGES = ['created', 'moved', 'renamed', 'changed', 'deleted'] as const;
export type DeptChangeKind = (typeof DEPT_CHANGES)[number];

/** What has become of a department. */
export class DeptDiffDto {
  /** @example 1 */
  @Int64()
  deptId!: number;
  /** What matters most of it: one that has moved may be renamed and changed, too. */
  @Choice(...DEPT_CHANGES)
  change!: DeptChangeKind;
  /** As it is called after; of a deleted one, as it was called. @example 销售部 */
  deptName!: string;
  /** The names from the top down to it. @example 总公司 / 销售部 */
  path!: string;
  /** The path before, when it has moved; null otherwise. */
  pathBefore!: string | null;
  /** What differs in it. Empty when it was created or deleted. */
  fields!: FieldChangeDto[];
  /** Who changed it last. @example admin */
  by!: string;
  /** When. @example "2026-01-01 09:00:00" */
  @TimeText()
  time!: string;
}
