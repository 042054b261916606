import { chunksOf } from '../../database/in-chunks';
import { FirstRows } from '../../database/page';
import { endOf } from '../../journal/journal-state';
import { TimeSlices } from '../../time/time-slices';
import { DEPT_DETAILS } from '../dept.entity';
import { DEPT_CHANGES, type DeptChangeKind, type FieldChangeDto } from './dept-history.dto';
import type { DeptJournal, NetChange } from './dept-journal';

const COMPARED = ['deptName', 'parentId', ...DEPT_DETAILS] as const;

/** A department that differs between two versions. */
export interface DeptDifference extends Pick<NetChange, 'last'> {
  readonly deptId: number;
  readonly change: DeptChangeKind;
  /** The number of `change` in the order of differences; `deptId` decides between equal ones. */
  readonly rank: number;
  readonly fields: FieldChangeDto[];
}

type Place = Pick<DeptDifference, 'rank' | 'deptId'>;

function inOrder(a: Place, b: Place): number {
  return a.rank - b.rank || a.deptId - b.deptId;
}

/**
 * The first differences between two versions after a place in their order. Of all entries it keeps one number for each department; their
 * fields are read some departments at a time, and of those that were created or deleted only for the ones that come first.
 */
export async function findDifferences(
  journal: DeptJournal,
  [from, to]: readonly [number, number],
  after: Place,
  limit: number,
): Promise<DeptDifference[]> {
  const { created, kept, deleted } = await touchedBetween(journal, from, to);
  const nextOf = (change: DeptChangeKind, deptIds: readonly number[]) =>
    deptIds.filter((deptId) => inOrder({ rank: rankOf(change), deptId }, after) > 0).slice(0, limit);
  const first = new FirstRows<DeptDifference>(limit, inOrder);
  for (const deptIds of [nextOf('created', created), kept, nextOf('deleted', deleted)]) {
    if (first.all().length === limit) break;
    for (const chunk of chunksOf(deptIds))
      for (const [deptId, change] of await journal.netChanges(chunk, from, to)) {
        const difference = differenceIn(deptId, change);
        if (difference && inOrder(difference, after) > 0) first.add(difference);
      }
  }
  return first.all();
}

/** Whether a department was there before, and whether it is there after. */
const BEFORE = 1;
const AFTER = 2;
const CREATING: ReadonlySet<string> = new Set(['created', 'restored']);

/** The departments that anything was done to between two versions, in the order of their ids. */
async function touchedBetween(
  journal: DeptJournal,
  from: number,
  upTo: number,
): Promise<Record<'created' | 'kept' | 'deleted', number[]>> {
  const slices = new TimeSlices();
  const ends = new Map<number, number>();
  for await (const steps of journal.steps(endOf(from), { upTo }))
    for (const { kind, resourceId, operation } of steps) {
      if (kind !== 'dept') continue;
      if (slices.isOver) await slices.next();
      const deptId = Number(resourceId);
      const before = ends.get(deptId) ?? (CREATING.has(operation) ? 0 : BEFORE);
      ends.set(deptId, operation === 'deleted' ? before & BEFORE : before | AFTER);
    }
  const found: number[][] = [[], [], [], []];
  for (const [deptId, end] of ends) {
    if (slices.isOver) await slices.next();
    found[end]?.push(deptId);
  }
  const [, deleted = [], created = [], kept = []] = found.map((ids) => ids.sort((a, b) => a - b));
  return { created, kept, deleted };
}

/** Null when it did not exist at both ends, or nothing differs. */
function differenceIn(deptId: number, { before, after, last }: NetChange): DeptDifference | null {
  const as = (change: DeptChangeKind, fields: FieldChangeDto[] = []): DeptDifference => ({
    deptId,
    change,
    rank: rankOf(change),
    fields,
    last,
  });
  if (!before) return after && as('created');
  if (!after) return as('deleted');
  const differs = COMPARED.filter((field) => field in after && before[field] !== after[field]);
  if (differs.length === 0) return null;
  const fields = differs.map((field) => ({ field, before: before[field], after: after[field] }));
  const most = differs.includes('parentId') ? 'moved' : differs.includes('deptName') ? 'renamed' : 'changed';
  return as(most, fields as FieldChangeDto[]);
}

function rankOf(change: DeptChangeKind): number {
  return DEPT_CHANGES.indexOf(change);
}
