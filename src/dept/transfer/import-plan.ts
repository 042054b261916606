import type { Bilingual } from '../../errors/refusal';
import { TimeSlices } from '../../time/time-slices';
import { MAX_DEPTH } from '../../database/tree-path';
import type { ManagedPart } from '../../tenancy/managed-part';
import type { Language } from '../../web/request';
import type { SiblingName } from '../dept.conditions';
import { DEPT_DETAILS, ROOT_ID, type TenantryDept } from '../dept.entity';
import { pathOfPrevious, stepAt, type DeptLine, type LineProblem } from './dept-line';
import type { ImportReportDto, LineFateDto, LineFate } from './dept-transfer.dto';

export type FindNamed = (names: readonly SiblingName[]) => Promise<TenantryDept[]>;

/** A line of a file, and what exists at its place. */
export interface PlannedLine {
  readonly line: DeptLine;
  existing: TenantryDept | undefined;
  existingParent: TenantryDept | undefined;
  /** How many departments have this name under this parent. */
  sameNamed: number;
}

export interface ImportPlan {
  /** Level by level from the top, each in the order of the file. */
  readonly levels: readonly (readonly PlannedLine[])[];
  readonly problems: readonly LineProblem[];
}

const repeats = (line: number): Bilingual => ({
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

/** Compares the lines of a file with the departments that exist; `refused` is what was wrong with others of its lines. */
export async function planImport(
  lines: readonly DeptLine[],
  findNamed: FindNamed,
  refused: readonly LineProblem[] = [],
): Promise<ImportPlan> {
  const slices = new TimeSlices();
  const problems: LineProblem[] = [];
  const byPath = new Map<string, PlannedLine>();
  for (const line of lines) {
    if (slices.isOver) await slices.next();
    const first = byPath.get(line.path);
    if (first) problems.push({ line: line.line, field: 'path', message: repeats(first.line.line) });
    else byPath.set(line.path, { line, existing: undefined, existingParent: undefined, sameNamed: 0 });
  }
  await findExisting(byPath.values(), findNamed, slices);
  const paths = new Set([...byPath.keys(), ...refused.map(({ path }) => path)]);
  const levels: PlannedLine[][] = Array.from({ length: MAX_DEPTH }, () => []);
  for (const planned of byPath.values()) {
    if (slices.isOver) await slices.next();
    levels[planned.line.depth - 1]?.push(planned);
    const message = problemOf(planned, byPath, paths);
    if (message) problems.push({ line: planned.line.line, field: 'path', message });
  }
  return { levels, problems };
}

export function fateOf({ existing, line: { fields } }: PlannedLine): Exclude<LineFate, 'refused'> {
  if (!existing) return 'created';
  const isChanged = DEPT_DETAILS.some((field) => field in fields && fields[field] !== existing[field]);
  return isChanged ? 'updated' : 'unchanged';
}

/** The lines that would create or change departments outside the part that the caller manages. */
export async function linesOutside({ levels }: ImportPlan, part: ManagedPart): Promise<PlannedLine[]> {
  if (part.isWhole) return [];
  const slices = new TimeSlices();
  const outside: PlannedLine[] = [];
  const createdInside = new Set<string>();
  for (const planned of levels.flat()) {
    if (slices.isOver) await slices.next();
    const { line, existing, existingParent } = planned;
    const isInside = existing
      ? fateOf(planned) === 'unchanged' ||
        part.mayChange(existing, { status: line.fields.status ?? existing.status })
      : existingParent
        ? part.holds(existingParent)
        : createdInside.has(line.parentPath ?? '');
    if (!isInside) outside.push(planned);
    else if (!existing) createdInside.add(line.path);
  }
  return outside;
}

function problemOf(
  { line, existing, existingParent, sameNamed }: PlannedLine,
  byPath: ReadonlyMap<string, PlannedLine>,
  paths: ReadonlySet<string | undefined>,
): Bilingual | null {
  if (existing) return null;
  const parent = byPath.get(line.parentPath ?? '');
  if (line.parentPath !== null && !existingParent && !paths.has(line.parentPath)) return NO_PARENT;
  if (line.step.nth > sameNamed + 1 && !paths.has(pathOfPrevious(line))) return NOT_NUMBERED;
  // A parent that the file creates may be disabled: its children could have been created before.
  const isDisabled = existingParent && (parent?.line.fields.status ?? existingParent.status) !== '0';
  return isDisabled ? DISABLED : null;
}

/** A name under a parent that exists, or at the top level, and the lines whose paths lead through it. */
interface Search {
  readonly name: SiblingName;
  readonly parent: TenantryDept | undefined;
  readonly lines: { readonly planned: PlannedLine; readonly nth: number; readonly end: number }[];
  readonly found: TenantryDept[];
}

/** Follows the paths of all lines from the top, a level at a time, as far as departments exist. */
async function findExisting(
  lines: Iterable<PlannedLine>,
  findNamed: FindNamed,
  slices: TimeSlices,
): Promise<void> {
  let next = new Map<string, Search>();
  const follow = (planned: PlannedLine, begin: number, parent?: TenantryDept): void => {
    const { name: deptName, nth, end } = stepAt(planned.line.path, begin);
    const name = { parentId: parent?.deptId ?? ROOT_ID, deptName };
    const search = next.get(keyOf(name)) ?? { name, parent, lines: [], found: [] };
    next.set(keyOf(name), search);
    search.lines.push({ planned, nth, end });
  };
  for (const planned of lines) {
    if (slices.isOver) await slices.next();
    follow(planned, 0);
  }
  while (next.size > 0) {
    const searches = next;
    next = new Map();
    const depts = await findNamed([...searches.values()].map(({ name }) => name));
    for (const dept of depts.sort((a, b) => a.deptId - b.deptId)) {
      if (slices.isOver) await slices.next();
      searches.get(keyOf(dept))?.found.push(dept);
    }
    for (const { parent, found, lines: through } of searches.values())
      for (const { planned, nth, end } of through) {
        if (slices.isOver) await slices.next();
        const dept = found[nth - 1];
        if (end === planned.line.path.length)
          Object.assign(planned, { existing: dept, existingParent: parent, sameNamed: found.length });
        else if (dept) follow(planned, end + 1, dept);
      }
  }
}

function keyOf({ parentId, deptName }: SiblingName): string {
  return `${parentId}/${deptName}`;
}

export function countOutcomes({ levels }: ImportPlan): ImportReportDto {
  const report = { created: 0, updated: 0, unchanged: 0 };
  for (const planned of levels.flat()) report[fateOf(planned)] += 1;
  return report;
}

export async function reportLines(
  { levels }: ImportPlan,
  problems: readonly LineProblem[],
  language: Language,
): Promise<ImportReportDto> {
  const slices = new TimeSlices();
  // Indexed by line number: sorting would take long in one go.
  const byLine: (LineFateDto | undefined)[] = [];
  for (const planned of levels.flat()) {
    if (slices.isOver) await slices.next();
    const { line } = planned.line;
    byLine[line] = { line, fate: fateOf(planned) };
  }
  for (const { line, field, message } of problems) {
    if (slices.isOver) await slices.next();
    const problem = { field, message: message[language] };
    const before = byLine[line];
    if (before?.problems) before.problems.push(problem);
    else byLine[line] = { line, fate: 'refused', problems: [problem] };
  }
  const report = { created: 0, updated: 0, unchanged: 0, refused: 0, lines: [] as LineFateDto[] };
  for (const line of byLine) {
    if (slices.isOver) await slices.next();
    // Blank lines leave holes.
    if (!line) continue;
    report[line.fate] += 1;
    report.lines.push(line);
  }
  return report;
}
