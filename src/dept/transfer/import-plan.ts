import type { Bilingual } from '../../errors/refusal';
import { TimeSlices } from '../../time/time-slices';
import { MAX_DEPTH } from '../../tree/tree-path';
import { sameNamedPath, type DeptLine, type LineProblem } from './dept-line';
import { findExisting, type FindNamed } from './find-existing';
import { PlannedLine } from './planned-line';

/** What a file would do. */
export interface ImportPlan {
  /** Level by level from the top, each in the order of the file. */
  readonly levels: readonly (readonly PlannedLine[])[];
  readonly problems: readonly LineProblem[];
}

const twice = (line: number): Bilingual => ({
  zh: `与第 ${line} 行重复`,
  en: `has the same path as line ${line}`,
});
const NO_PARENT = {
  zh: '上级部门不存在，文件中也没有',
  en: 'has no parent: it neither exists nor is in the file',
};
const NOT_NUMBERED = {
  zh: '同名部门的编号不连续',
  en: 'is numbered, but the one before it neither exists nor is in the file',
};
const DISABLED = { zh: '上级部门已停用', en: 'has a disabled parent' };

/** Holds the lines of a file against the departments that are there. */
export async function planImport(lines: readonly DeptLine[], findNamed: FindNamed): Promise<ImportPlan> {
  const slices = new TimeSlices();
  const problems: LineProblem[] = [];
  const byPath = new Map<string, PlannedLine>();
  for await (const line of slices.over(lines)) {
    const before = byPath.get(line.path);
    if (before) problems.push({ line: line.line, field: 'path', message: twice(before.line.line) });
    else byPath.set(line.path, new PlannedLine(line, byPath));
  }
  await findExisting(byPath.values(), findNamed, slices);
  const levels: PlannedLine[][] = Array.from({ length: MAX_DEPTH }, () => []);
  for await (const planned of slices.over(byPath.values())) {
    levels[planned.line.depth - 1]?.push(planned);
    const message = problemOf(planned, byPath);
    if (message) problems.push({ line: planned.line.line, field: 'path', message });
  }
  return { levels, problems };
}

function problemOf(
  { line, existing, existingParent, sameNamed, parent }: PlannedLine,
  byPath: ReadonlyMap<string, PlannedLine>,
): Bilingual | null {
  if (existing) return null;
  if (line.depth > 1 && !existingParent && !parent) return NO_PARENT;
  const { nth } = line.step;
  if (nth > sameNamed + 1 && !byPath.has(sameNamedPath(line, nth - 1))) return NOT_NUMBERED;
  // A parent that the file makes may be disabled: its children could have been made before.
  const disabled = existingParent && (parent?.line.fields.status ?? existingParent.status) !== '0';
  return disabled ? DISABLED : null;
}
