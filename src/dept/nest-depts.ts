import type { DeptNodeDto, DeptRowDto } from './dept-list.dto';
import type { DeptRow } from './dept.entity';

/** Hangs departments under their parents, from those right below `topId` on, each list in its order. Pure. */
export function nestDepts(
  depts: readonly DeptRow[],
  topId: number,
  view: (dept: DeptRow) => DeptRowDto,
): DeptNodeDto[] {
  const children = new Map<number, DeptRow[]>();
  for (const dept of depts) {
    const siblings = children.get(dept.parentId);
    if (siblings) siblings.push(dept);
    else children.set(dept.parentId, [dept]);
  }
  // As deep as the tree, which is bounded.
  const hang = (parentId: number): DeptNodeDto[] =>
    (children.get(parentId) ?? [])
      .sort((a, b) => a.orderNum - b.orderNum || a.deptId - b.deptId)
      .map((dept) => Object.assign(view(dept), { children: hang(dept.deptId) }));
  return hang(topId);
}
