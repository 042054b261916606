import { setImmediate as breathe } from 'node:timers/promises';
import type { Bilingual } from '../../http/error-catalogue';
import { DEPT_DETAILS, ROOT_ID, type DeptEntity } from '../dept.entity';
import type { SiblingName } from '../dept.conditions';
import type { DeptLine, LineProblem } from './dept-line';
import { formatStep } from './dept-path';
import { PathTree, type PathNode } from './path-tree';

/** Finds the departments with these parents and names. */
export type FindNamed = (names: readonly SiblingName[]) => Promise<DeptEntity[]>;

export type Fate = 'created' | 'updated' | 'unchanged';

/** What a file would do, level by level. */
export interface ImportPlan {
  /** The places that lines name. */
  readonly levels: readonly (readonly PathNode[])[];
  readonly problems: readonly LineProblem[];
}

/** After so many lines others have their turn. */
const LINES_A_TURN = 500;

const twice = (line: number): Bilingual => ({
  zh: `与第 ${line} 行重复`,
  en: `says the same path as line ${line}`,
});
const NO_PARENT = { zh: '上级部门不存在', en: 'has no parent: it is neither there nor in the file' };
const NOT_NUMBERED = {
  zh: '同名部门的编号不连续',
  en: 'is numbered, but the one before it is neither there nor in the file',
};
const DISABLED = { zh: '上级部门已停用', en: 'has a disabled parent' };

/** Holds the lines of a file against the departments that are there, from the top down. */
export async function planImport(lines: readonly DeptLine[], findNamed: FindNamed): Promise<ImportPlan> {
  const problems: LineProblem[] = [];
  const tree = new PathTree();
  for (const [index, line] of lines.entries()) {
    const before = tree.add(line);
    if (before) problems.push({ line: line.line, field: 'path', message: twice(before.line) });
    if (index % LINES_A_TURN === 0) await breathe();
  }
  const levels: PathNode[][] = [];
  for (const level of tree.levels()) {
    await findExisting(level, findNamed);
    for (const node of level) problems.push(...problemsOf(node, tree.siblingsOf(node)));
    // Of the same name, in the order of their numbers: by it they are told apart from then on.
    levels.push(level.filter(({ line }) => line).sort((a, b) => a.step.nth - b.step.nth));
    await breathe();
  }
  return { levels, problems };
}

/** What becomes of the department at a place that a line names. */
export function fateOf({ existing, line }: PathNode): Fate {
  if (!existing) return 'created';
  const differs = DEPT_DETAILS.some(
    (field) => line && field in line.fields && line.fields[field] !== existing[field],
  );
  return differs ? 'updated' : 'unchanged';
}

async function findExisting(level: readonly PathNode[], findNamed: FindNamed): Promise<void> {
  // Below what is about to be made there is nothing yet.
  const parentIdOf = ({ parent }: PathNode) => (parent ? parent.existing?.deptId : ROOT_ID);
  const names = new Map<string, SiblingName>();
  for (const node of level) {
    const [parentId, deptName] = [parentIdOf(node), node.step.name];
    if (parentId !== undefined) names.set(nameKey(parentId, deptName), { parentId, deptName });
  }
  const found = groupNamed(await findNamed([...names.values()]));
  for (const node of level) {
    const twins = found.get(nameKey(parentIdOf(node) ?? -1, node.step.name)) ?? [];
    node.twins = twins.length;
    node.existing = twins[node.step.nth - 1];
  }
}

/** Of the same name under the same parent, in the order in which they were made. */
function groupNamed(depts: readonly DeptEntity[]): Map<string, DeptEntity[]> {
  const groups = new Map<string, DeptEntity[]>();
  for (const dept of depts.toSorted((a, b) => a.deptId - b.deptId)) {
    const key = nameKey(dept.parentId, dept.deptName);
    const group = groups.get(key);
    if (group) group.push(dept);
    else groups.set(key, [dept]);
  }
  return groups;
}

function nameKey(parentId: number, name: string): string {
  return `${parentId}/${name}`;
}

function problemsOf(node: PathNode, siblings: ReadonlyMap<string, PathNode>): LineProblem[] {
  const { existing, line, parent, step } = node;
  if (!line || existing) return [];
  const problem = (message: Bilingual): LineProblem[] => [{ line: line.line, field: 'path', message }];
  if (parent && !parent.isThere) return problem(NO_PARENT);
  const before = siblings.get(formatStep({ name: step.name, nth: step.nth - 1 }));
  if (step.nth > node.twins + 1 && !before?.isThere) return problem(NOT_NUMBERED);
  // A parent that the file makes may be disabled: its children could have been made before.
  const disabled = parent?.existing && (parent.line?.fields.status ?? parent.existing.status) !== '0';
  return disabled ? problem(DISABLED) : [];
}
