import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { TimeSlices } from '../../time/time-slices';
import { chunksOf } from '../../database/in-chunks';
import { placeUnder, TOP_LEVEL, type TreeNode } from '../../database/tree-path';
import { pick } from '../../resource/fields';
import type { RowChange } from '../../resource/journalled-rows.repository';
import { DEPT_DETAILS, ROOT_ID, type DeptDetail, type TenantryDept } from '../dept.entity';
import type { DeptPlace, LockedDeptTree } from '../locked-dept-tree';
import { fieldsOfNew, pathOfPrevious } from './dept-line';
import { fateOf, type ImportPlan, type PlannedLine } from './import-plan';

/** How many departments one statement writes. */
const BATCH = 50;

/** Does what a plan says, parents before their children. */
export async function applyImport(tree: LockedDeptTree, { levels }: ImportPlan): Promise<void> {
  const slices = new TimeSlices();
  const created = new Map<string, TreeNode>();
  for (const level of levels) {
    const toCreate = level.filter((planned) => fateOf(planned) === 'created');
    for (const batch of chunksOf(await creationOrder(toCreate, slices), BATCH)) {
      const rows = batch.map(({ line, existingParent }) => {
        const parent = line.parentPath === null ? null : (created.get(line.parentPath) ?? existingParent);
        return Object.assign(fieldsOfNew(line), placeBelow(parent));
      });
      const ids = await tree.addMany(rows);
      rows.forEach(({ ancestors, depth }, index) => {
        created.set(batch[index]?.line.path ?? '', { key: ids[index] ?? 0, ancestors, depth });
      });
      await yieldToEventLoop();
    }
    const toUpdate = level.filter((planned) => fateOf(planned) === 'updated');
    for (const batch of chunksOf(toUpdate, BATCH)) {
      await tree.replaceMany(batch.map(changedDept));
      await yieldToEventLoop();
    }
  }
}

function placeBelow(parent: TreeNode | null | undefined): DeptPlace {
  if (parent === null) return { parentId: ROOT_ID, ...TOP_LEVEL };
  if (!parent) throw new Error('A parent was not created before its child.');
  return { parentId: Number(parent.key), ...placeUnder(parent) };
}

function changedDept({ existing, line }: PlannedLine): RowChange<TenantryDept, DeptDetail> {
  if (!existing) throw new Error('Only a department that exists can be changed.');
  return { row: existing, values: Object.assign(pick(existing, DEPT_DETAILS), line.fields) };
}

/**
 * The order in which the departments of one level are created. Ids grow in it, and ids decide two things: siblings with
 * the same `orderNum` are listed by id, so they follow the order of the file; siblings with the same name are numbered by
 * id, so they follow their numbers. An exported file allows both. Where a file contradicts itself, the numbers win.
 */
async function creationOrder(
  level: readonly PlannedLine[],
  slices: TimeSlices,
): Promise<readonly PlannedLine[]> {
  const byPath = new Map(level.map((planned) => [planned.line.path, planned]));
  const lastByOrder = new Map<string, PlannedLine>();
  const waitsFor = new Map<PlannedLine, number>();
  const followers = new Map<PlannedLine, PlannedLine[]>(level.map((planned) => [planned, []]));
  for (const planned of level) {
    if (slices.isOver) await slices.next();
    const { line } = planned;
    const order = `${line.fields.orderNum ?? 0} ${line.parentPath ?? ''}`;
    const sameName = line.step.nth > 1 ? byPath.get(pathOfPrevious(line)) : undefined;
    const before = [sameName, lastByOrder.get(order)].filter((each) => each !== undefined);
    for (const each of before) followers.get(each)?.push(planned);
    waitsFor.set(planned, before.length);
    lastByOrder.set(order, planned);
  }
  const ordered = level.filter((planned) => waitsFor.get(planned) === 0);
  for (const planned of ordered) {
    if (slices.isOver) await slices.next();
    for (const next of followers.get(planned) ?? []) {
      const left = (waitsFor.get(next) ?? 0) - 1;
      waitsFor.set(next, left);
      if (left === 0) ordered.push(next);
    }
  }
  const isContradiction = ordered.length < level.length;
  return isContradiction ? level.toSorted((a, b) => a.line.step.nth - b.line.step.nth) : ordered;
}
