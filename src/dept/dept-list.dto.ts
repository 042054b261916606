import { ChoiceField, NumberParam, SearchParam } from '../web/fields';
import { IdField, RequiredIdsField, IdsParam } from '../web/id-fields';
import { PageQuery } from '../web/page-query.dto';
import { MAX_DEPTH } from '../tree/tree-path';
import { DeptDto } from './dept.dto';

const MOST_ORDERED = 500;

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
  @ChoiceField('0', '1')
  status?: string;

  /** Up to 500 ids, separated by commas. */
  @IdsParam()
  ids?: number[];
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
  @ChoiceField('0', '1')
  status?: string;

  /** Only departments with this in their names, with the chain of their ancestors. */
  @SearchParam(64)
  deptName?: string;
}

/** Children of one department in their new order. */
export class OrderDeptsDto {
  /**
   * The department whose children these are; 0 is the top level.
   * @example 0
   */
  @IdField()
  parentId?: number;

  /**
   * They get `orderNum` 1, 2, 3 and so on; children that are not listed keep theirs.
   * @example [1]
   */
  @RequiredIdsField(MOST_ORDERED)
  deptIds!: number[];
}

/** A department in a list. */
export class DeptRowDto extends DeptDto {
  hasChildren!: boolean;
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
