import { In, LessThan, LessThanOrEqual, Raw, type FindOptionsWhere } from 'typeorm';
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
    // Not LIKE: in it % and _ mean something, and the databases differ about upper and lower case.
    ...(name !== undefined && { deptName: Raw((column) => `INSTR(${column}, :name) > 0`, { name }) }),
  };
}

/** The criterion whose index has the order of the list, or none: then it is the order of all departments. */
export function orderedBy({ parentId, leader, status }: DeptCriteria): Where {
  if (parentId !== undefined) return { ...LIVE, parentId };
  if (leader !== undefined) return { ...LIVE, leader };
  return status === undefined ? LIVE : { ...LIVE, status };
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

/** Of these departments, the ones that have a sibling of the same name. */
export function twinsAmong(deptIds: readonly number[], tenantId: string, onSqlite: boolean): Where {
  // Told which index: after many new rows the databases' own figures say that any will do.
  const index = onSqlite ? 'INDEXED BY ix_dept_sibling' : 'FORCE INDEX (ix_dept_sibling)';
  const hasTwin = (column: string) => {
    const [table] = column.split('.', 1);
    return `CASE WHEN EXISTS (SELECT 1 FROM tenantry_dept twin ${index} WHERE twin.tenant_id = :tenantOfTwin
       AND twin.del_flag = '0' AND twin.parent_id = ${table}.parent_id AND twin.dept_name = ${table}.dept_name
       AND twin.dept_id <> ${column}) THEN 1 ELSE 0 END = 1`;
  };
  return {
    ...LIVE,
    deptId: Raw((column) => `${column} IN (:...named) AND ${hasTwin(column)}`, {
      named: deptIds.map(String),
      tenantOfTwin: tenantId,
    }),
  };
}

type Sibling = Pick<DeptEntity, 'parentId' | 'deptName' | 'orderNum' | 'deptId'>;

/** The siblings of the same name that come before a department. */
export function twinsBefore({ parentId, deptName, orderNum, deptId }: Sibling): Where[] {
  const twin = { ...LIVE, parentId, deptName };
  return [
    { ...twin, orderNum: LessThan(orderNum) },
    { ...twin, orderNum, deptId: LessThan(deptId) },
  ];
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
