import { In, LessThan, LessThanOrEqual, Raw, type FindOptionsWhere } from 'typeorm';
import { contains } from '../database/columns';
import type { TreeNode } from '../database/tree-path';
import { below } from '../database/tree-table';
import type { TenantryDept } from './dept.entity';

export type Where = FindOptionsWhere<TenantryDept>;

export type SiblingName = Pick<TenantryDept, 'parentId' | 'deptName'>;

export const LIVE = { delFlag: '0' } as const;
export const DELETED = { delFlag: '2' } as const;

/** Which departments are looked for; all criteria that are given must match. */
export interface DeptCriteria {
  readonly ids?: readonly number[] | undefined;
  readonly parentId?: number | undefined;
  readonly below?: TreeNode | undefined;
  /** A part of the name. */
  readonly name?: string | undefined;
  readonly leader?: string | undefined;
  readonly status?: string | undefined;
  readonly maxDepth?: number | undefined;
  /** Deleted ones instead of live ones, without those that come back with one above them. */
  readonly deleted?: boolean | undefined;
  /** What their ids and paths must pass as well. */
  readonly passes?: ((dept: Pick<TenantryDept, 'deptId' | 'ancestors'>) => boolean) | undefined;
}

export function matching(criteria: DeptCriteria): Where {
  const { ids, parentId, below: top, name, leader, status, maxDepth, deleted } = criteria;
  return {
    ...(deleted ? { ...DELETED, deletedWith: isItself } : LIVE),
    ...(ids && { deptId: In([...ids]) }),
    ...(parentId !== undefined && { parentId }),
    ...(leader !== undefined && { leader }),
    ...(status !== undefined && { status }),
    ...(maxDepth !== undefined && { depth: LessThanOrEqual(maxDepth) }),
    ...(top && below<TenantryDept>(top)),
    ...(name !== undefined && { deptName: contains(name) }),
  };
}

const isItself = Raw<number>(
  (column) => `(${column} IS NULL OR ${column} = ${column.replace(/[^.]+$/, 'dept_id')})`,
);

/** What was deleted together with this department, and stood below it: a range of the index on the path. */
export function deletedBelow(dept: TenantryDept, deletedWith: number): Where {
  return { ...below<TenantryDept>(dept), ...DELETED, deletedWith };
}

/** Rows that are next to each other in an index. */
export interface IndexRange {
  readonly where: Where;
  readonly index: string;
}

/** The index in the order of lists that starts with the criterion which is usually the narrowest; or that of all. */
export function orderedRange({ parentId, leader, status, deleted }: DeptCriteria): IndexRange {
  const all: Where = deleted ? DELETED : LIVE;
  if (leader !== undefined) return { where: { ...all, leader }, index: 'ix_dept_leader' };
  if (parentId !== undefined) return { where: { ...all, parentId }, index: 'ix_dept_children' };
  if (status !== undefined) return { where: { ...all, status }, index: 'ix_dept_status' };
  return { where: all, index: 'ix_dept_order' };
}

/** How databases find departments whose ids are listed. */
export const BY_ID = { index: 'PRIMARY' } as const;

export function withIds(deptIds: readonly number[]): Where {
  return { ...LIVE, deptId: In([...deptIds]) };
}

/**
 * Of a department `t`, 0 or 1. The index is forced: in a tenant without levels MariaDB takes the one in the order of lists, and walks
 * the whole tenant.
 */
export const HAS_CHILDREN = `COALESCE((SELECT 1 FROM :table child:ix_dept_children
  WHERE child.tenant_id = t.tenant_id AND child.del_flag = '0' AND child.parent_id = t.dept_id
  ORDER BY child.order_num, child.dept_id LIMIT 1), 0)`;

export function parentsAmong(deptIds: readonly number[], tenantId: string): Where {
  return havingOther(
    deptIds,
    tenantId,
    'ix_dept_children',
    (dept) => `other.parent_id = ${dept}.dept_id ORDER BY other.order_num, other.dept_id`,
  );
}

/** Of these departments, the ones that are not the first sibling with their name. */
export function numberedAmong(deptIds: readonly number[], tenantId: string): Where {
  return havingOther(
    deptIds,
    tenantId,
    'ix_dept_sibling',
    (dept) =>
      `other.parent_id = ${dept}.parent_id AND other.dept_name = ${dept}.dept_name AND other.dept_id < ${dept}.dept_id
       ORDER BY other.dept_id`,
  );
}

/**
 * Of these departments, the ones for which another one exists: one index lookup each. Not EXISTS, which may become a join,
 * and for which PostgreSQL reads the whole table where few departments have children. The order is that of the index.
 */
function havingOther(
  deptIds: readonly number[],
  tenantId: string,
  index: string,
  conditionInOrder: (dept: string) => string,
): Where {
  const sql = (column: string): string => {
    const [dept = ''] = column.split('.', 1);
    return `${column} IN (:...among) AND (SELECT 1 FROM :table other:${index}
       WHERE other.tenant_id = :tenantOfOther AND other.del_flag = '0' AND ${conditionInOrder(dept)} LIMIT 1) = 1`;
  };
  return { ...LIVE, deptId: Raw(sql, { among: deptIds.map(String), tenantOfOther: tenantId }) };
}

export function sameNamedBefore({ parentId, deptName, deptId }: SiblingName & { deptId: number }): Where {
  return { ...LIVE, parentId, deptName, deptId: LessThan(deptId) };
}

/** The departments with these parents and names, in the form for which each database uses its index. */
export function namedSiblings(names: readonly SiblingName[], byRowValues: boolean): Where | Where[] {
  if (!byRowValues) return names.map((name) => ({ ...LIVE, ...name }));
  const parameters: Record<string, string> = {};
  const pairs = names.map(({ parentId, deptName }, index) => {
    parameters[`parent${index}`] = String(parentId);
    parameters[`name${index}`] = deptName;
    return `(CAST(:parent${index} AS bigint), :name${index})`;
  });
  const sql = (column: string): string =>
    `(${column}, ${column.replace(/[^.]+$/, 'dept_name')}) IN (VALUES ${pairs.join(', ')})`;
  return { ...LIVE, parentId: Raw(sql, parameters) };
}
