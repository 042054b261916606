import { setImmediate as breathe } from 'node:timers/promises';
import { placeUnder, TOP_LEVEL, type TreeNode } from '../../tree/tree-path';
import { ROOT_ID } from '../dept.entity';
import type { DeptPlace, LockedDeptTree, ReplacedDept } from '../locked-dept-tree';
import { fieldsOfNew } from './dept-line';
import { fateOf, type ImportPlan } from './import-plan';
import type { PathNode } from './path-tree';

/** So many departments go into one statement. */
const BATCH = 50;

/** Does what a plan says, parents before their children. Between two batches others have their turn. */
export async function carryOut(tree: LockedDeptTree, { levels }: ImportPlan): Promise<void> {
  const made = new Map<PathNode, TreeNode>();
  for (const level of levels) {
    for (const batch of batches(level.filter((node) => fateOf(node) === 'created'))) {
      const rows = batch.flatMap(({ line, parent }) =>
        line ? [{ ...fieldsOfNew(line), ...placeUnderNode(parent, made) }] : [],
      );
      const ids = await tree.addMany(rows);
      await breathe();
      batch.forEach((node, index) => made.set(node, { key: ids[index] ?? 0, ...placeOf(rows[index]) }));
    }
    const changed = level.filter((node) => fateOf(node) === 'updated');
    for (const batch of batches(changed)) {
      await tree.replaceMany(batch.map(changedDept));
      await breathe();
    }
  }
}

function placeUnderNode(parent: PathNode | null, made: ReadonlyMap<PathNode, TreeNode>): DeptPlace {
  if (!parent) return { parentId: ROOT_ID, ...TOP_LEVEL };
  const node = made.get(parent) ?? parent.existing;
  if (!node) throw new Error('A parent was not made before its child.');
  return { parentId: Number(node.key), ...placeUnder(node) };
}

function changedDept({ existing, line }: PathNode): ReplacedDept {
  if (!existing) throw new Error('Only a department that is there can be changed.');
  const { deptId, orderNum, leader, phone, email, status } = existing;
  return { deptId, orderNum, leader, phone, email, status, ...line?.fields };
}

function placeOf(row: DeptPlace | undefined): Pick<TreeNode, 'ancestors' | 'depth'> {
  return { ancestors: row?.ancestors ?? '', depth: row?.depth ?? 0 };
}

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) =>
    all.slice(n * BATCH, (n + 1) * BATCH),
  );
}
