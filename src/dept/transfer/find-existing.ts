import type { TimeSlices } from '../../time/time-slices';
import type { SiblingName } from '../dept.conditions';
import { ROOT_ID, type DeptEntity } from '../dept.entity';
import { endOfStep, stepBetween } from './dept-path';
import type { PlannedLine } from './planned-line';

/** Finds the departments with these parents and names. */
export type FindNamed = (names: readonly SiblingName[]) => Promise<DeptEntity[]>;

/** The next step of a line's path, below a department that is there or at the top. */
interface Walk {
  readonly planned: PlannedLine;
  readonly parent: DeptEntity | undefined;
  readonly name: SiblingName;
  readonly nth: number;
  /** Where the step ends in the path. */
  readonly end: number;
}

/** Follows the paths of all lines from the top, a level at a time, as far as departments are there. */
export async function findExisting(
  lines: Iterable<PlannedLine>,
  findNamed: FindNamed,
  slices: TimeSlices,
): Promise<void> {
  let walks: Walk[] = [];
  for await (const planned of slices.over(lines)) walks.push(walkFrom(planned, 0, undefined));
  while (walks.length > 0) {
    const names = new Map<string, SiblingName>();
    for await (const { name } of slices.over(walks)) names.set(keyOf(name), name);
    const found = await groupNamed(await findNamed([...names.values()]), slices);
    const onward: Walk[] = [];
    for await (const walk of slices.over(walks)) {
      const next = step(walk, found.get(keyOf(walk.name)) ?? []);
      if (next) onward.push(next);
    }
    walks = onward;
  }
}

function walkFrom(planned: PlannedLine, begin: number, parent: DeptEntity | undefined): Walk {
  const { path } = planned.line;
  const end = endOfStep(path, begin);
  const { name, nth } = stepBetween(path, begin, end);
  return { planned, parent, name: { parentId: parent?.deptId ?? ROOT_ID, deptName: name }, nth, end };
}

/** Goes one step; gives the next one, unless the path ends here or nothing is there. */
function step({ planned, parent, nth, end }: Walk, sameNamed: readonly DeptEntity[]): Walk | null {
  const dept = sameNamed[nth - 1];
  if (end < planned.line.path.length) return dept ? walkFrom(planned, end + 1, dept) : null;
  planned.existing = dept;
  planned.existingParent = parent;
  planned.sameNamed = sameNamed.length;
  return null;
}

/** Of the same name under the same parent, in the order in which they were made. */
async function groupNamed(
  depts: readonly DeptEntity[],
  slices: TimeSlices,
): Promise<Map<string, DeptEntity[]>> {
  const groups = new Map<string, DeptEntity[]>();
  for await (const dept of slices.over(depts.toSorted((a, b) => a.deptId - b.deptId))) {
    const key = keyOf(dept);
    const group = groups.get(key);
    if (group) group.push(dept);
    else groups.set(key, [dept]);
  }
  return groups;
}

function keyOf({ parentId, deptName }: SiblingName): string {
  return `${parentId}/${deptName}`;
}
