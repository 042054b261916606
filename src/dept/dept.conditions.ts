import { In, LessThan, LessThanOrEqual, Raw, type FindOptionsWhere } from 'typeorm';
import { contains } from '../database/columns';
import type { TreeNode } from '../tree/tree-path';
import { below } from '../tree/tree-table';
import type { DeptEntity } from './dept.entity';

type Where = FindOptionsWhere<DeptEntity>;

export const LIVE = { delFlag: '0' } as const;

/** Which departments are looked for; what is absent does not matter. */
export interface DeptCriteria {
  readonly ids?: readonly number[] | undefined;
  readonly parentId?: number | undefined;
  /** All below this one. */
  readonly below?: TreeNode | undefined;
  /** A part of the name, to the byte. */
  readonly name?: string | undefined;
  readonly leader?: string | undefined;
  readonly status?: string | undefined;
  /** The deepest level. */
  readonly deepest?: number | undefined;
}

/** Every criterion as a condition; `ids` aside, which say where to look. */
export function matching({ parentId, below: top, name, leader, status, deepest }: DeptCriteria): Where {
  return {
    ...LIVE,
    ...(parentId !== undefined && { parentId }),
    ...(leader !== undefined && { leader }),
    ...(status !== undefined && { status }),
    ...(deepest !== undefined && { depth: LessThanOrEqual(deepest) }),
    ...(top && below<DeptEntity>(top)),
    ...(name !== undefined && { deptName: contains(name) }),
  };
}

/** Rows that stand together in an index. */
export interface IndexRange {
  readonly where: Where;
  readonly index: string;
}

/** The indexes in the order of lists that know one of the criteria, the narrowest first as a rule; or else that of all. */
export function orderedRanges({ parentId, leader, status }: DeptCriteria): [IndexRange, ...IndexRange[]] {
  const [first, ...others] = [
    ...(parentId === undefined ? [] : [{ where: { ...LIVE, parentId }, index: 'ix_dept_children' }]),
    ...(leader === undefined ? [] : [{ where: { ...LIVE, leader }, index: 'ix_dept_leader' }]),
    ...(status === undefined ? [] : [{ where: { ...LIVE, status }, index: 'ix_dept_status' }]),
  ];
  return [first ?? { where: LIVE, index: 'ix_dept_order' }, ...others];
}

/** Of these departments, the ones with children: one look into an index each, however many children there are. */
export function parentsAmong(deptIds: readonly number[], tenantId: string): Where {
  const hasChild = (column: string) =>
    `CASE WHEN EXISTS (SELECT 1 FROM tenantry_dept child WHERE child.tenant_id = :tenantOfChild
       AND child.del_flag = '0' AND child.parent_id = ${column}) THEN 1 ELSE 0 END = 1`;
  return {
    ...LIVE,
    deptId: Raw((column) => `${column} IN (:...parents) AND ${hasChild(column)}`, {
      parents: deptIds.map(String),
      tenantOfChild: tenantId,
    }),
  };
}

/** Of these departments, the ones that have an elder sibling of the same name: one look into an index each. */
export function youngerTwinsAmong(deptIds: readonly number[], tenantId: string): Where {
  const isSecond = (column: string) => {
    const [table] = column.split('.', 1);
    return `CASE WHEN EXISTS (SELECT 1 FROM tenantry_dept elder WHERE elder.tenant_id = :tenantOfElder
       AND elder.del_flag = '0' AND elder.parent_id = ${table}.parent_id AND elder.dept_name = ${table}.dept_name
       AND elder.dept_id < ${column}) THEN 1 ELSE 0 END = 1`;
  };
  return {
    ...LIVE,
    deptId: Raw((column) => `${column} IN (:...twins) AND ${isSecond(column)}`, {
      twins: deptIds.map(String),
      tenantOfElder: tenantId,
    }),
  };
}

/** The siblings of the same name that were made before a department. */
export function twinsBefore({ parentId, deptName, deptId }: SiblingName & Pick<DeptEntity, 'deptId'>): Where {
  return { ...LIVE, parentId, deptName, deptId: LessThan(deptId) };
}

/** A parent and a name, as departments are looked for by their paths. */
export type SiblingName = Pick<DeptEntity, 'parentId' | 'deptName'>;

/** The departments with these parents and names, in the form that each database takes as looks into an index. */
export function namedSiblings(names: readonly SiblingName[], onSqlite: boolean): Where | Where[] {
  if (!onSqlite) return names.map((name) => ({ ...LIVE, ...name }));
  const pairs = names.map((_, index) => `(:parent${index}, :name${index})`).join(', ');
  const parameters = names.flatMap(({ parentId, deptName }, index) => [
    [`parent${index}`, String(parentId)],
    [`name${index}`, deptName],
  ]);
  const inPairs = (column: string) => {
    const [table] = column.split('.', 1);
    return `(${column}, ${table}.dept_name) IN (VALUES ${pairs})`;
  };
  return { ...LIVE, parentId: Raw(inPairs, Object.fromEntries(parameters) as Record<string, string>) };
}

export function withIds(deptIds: readonly number[]): Where {
  return { ...LIVE, deptId: In([...deptIds]) };
}
