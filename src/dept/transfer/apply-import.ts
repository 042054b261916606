import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { TimeSlices } from '../../time/time-slices';
import { placeUnder, TOP_LEVEL, type TreeNode } from '../../tree/tree-path';
import { ROOT_ID } from '../dept.entity';
import type { DeptPlace, LockedDeptTree, ReplacedDept } from '../locked-dept-tree';
import { fieldsOfNew } from './dept-line';
import type { ImportPlan } from './import-plan';
import { makingOrder } from './making-order';
import type { PlannedLine } from './planned-line';

/** So many departments go into one statement. */
const BATCH = 50;

/** Does what a plan says, parents before their children. Between two batches others have their turn. */
export async function applyImport(tree: LockedDeptTree, { levels }: ImportPlan): Promise<void> {
  const slices = new TimeSlices();
  for (const level of levels) {
    const created = level.filter(({ fate }) => fate === 'created');
    for (const batch of batches(await makingOrder(created, slices))) {
      const rows = batch.map(({ line, parent, existingParent }) => ({
        ...fieldsOfNew(line),
        ...placeBelow(line.depth === 1 ? null : (parent?.made ?? existingParent)),
      }));
      const ids = await tree.addMany(rows);
      rows.forEach(({ ancestors, depth }, index) => {
        const planned = batch[index];
        if (planned) planned.made = { key: ids[index] ?? 0, ancestors, depth };
      });
      await yieldToEventLoop();
    }
    for (const batch of batches(level.filter(({ fate }) => fate === 'updated'))) {
      await tree.replaceMany(batch.map(changedDept));
      await yieldToEventLoop();
    }
  }
}

function placeBelow(parent: TreeNode | null | undefined): DeptPlace {
  if (parent === null) return { parentId: ROOT_ID, ...TOP_LEVEL };
  if (!parent) throw new Error('A parent was not made before its child.');
  return { parentId: Number(parent.key), ...placeUnder(parent) };
}

function changedDept({ existing, line }: PlannedLine): ReplacedDept {
  if (!existing) throw new Error('Only a department that is there can be changed.');
  const { deptId, orderNum, leader, phone, email, status } = existing;
  return { deptId, orderNum, leader, phone, email, status, ...line.fields };
}

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) =>
    all.slice(n * BATCH, (n + 1) * BATCH),
  );
}
