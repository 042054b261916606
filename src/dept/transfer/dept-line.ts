import { validateSync } from 'class-validator';
import type { Bilingual, FieldProblem } from '../../errors/refusal';
import { MAX_DEPTH } from '../../database/tree-path';
import { isText } from '../../web/field-rules';
import { CreateDeptDto } from '../dept.dto';
import { DEPT_DEFAULTS, DEPT_DETAILS, type DeptDetail, type DeptFields } from '../dept.entity';

export interface LineProblem {
  /** The path of the line, where it has one: what the file has below it is not wrong for that. */
  readonly path?: string | undefined;
  readonly line: number;
  readonly field: string;
  readonly message: Bilingual;
}

/** A file that cannot be read from some line on. */
export class BrokenFile extends Error {
  readonly problem: LineProblem;

  constructor(line: number, message: Bilingual) {
    super(`Line ${line} ${message.en}.`);
    this.problem = { line, field: 'line', message };
  }
}

/** One step of a path: a name, and its number among the siblings that have this name. */
export interface PathStep {
  readonly name: string;
  readonly nth: number;
}

/** A valid line of a file. Fields that it does not have stay as they are. */
export interface DeptLine {
  readonly line: number;
  /** Normalised: the same place always has the same path. */
  readonly path: string;
  readonly parentPath: string | null;
  readonly step: PathStep;
  readonly depth: number;
  readonly fields: Partial<Pick<DeptFields, DeptDetail>>;
}

/** Longer than any path of 64 names of 64 characters, each escaped and numbered. */
const MAX_PATH_LENGTH = 20_000;

const BAD_PATH: Bilingual = {
  zh: `必须为 1 到 ${MAX_DEPTH} 级、用 / 分隔的名称路径，每个名称不超过 64 个字符`,
  en: `must be a path of 1 to ${MAX_DEPTH} names separated by /, each of at most 64 characters`,
};

/** Checks the values of one line by the rules of a body; gives its problems when it is not valid. Null means the default. */
export function readLine(line: number, values: Readonly<Record<string, unknown>>): DeptLine | LineProblem[] {
  const place = placeOf(values.path);
  const { fields, problems: wrong } = checkFields(values, DEPT_DETAILS);
  const problems: LineProblem[] = place ? [] : [{ line, field: 'path', message: BAD_PATH }];
  problems.push(...wrong.map((problem) => ({ ...problem, line, path: place?.path })));
  return place && problems.length === 0 ? { line, ...place, fields } : problems;
}

/** Fields of a department by the rules of a body, and what is wrong with them. Null means the default. */
export function checkFields<K extends keyof DeptFields>(
  values: Readonly<Partial<Record<string, unknown>>>,
  names: readonly K[],
): { readonly fields: Partial<Pick<DeptFields, K>>; readonly problems: readonly FieldProblem[] } {
  const fields: Partial<Record<K, unknown>> = {};
  for (const name of names) {
    const value = values[name];
    if (value === undefined) continue;
    fields[name] = value === null ? DEPT_DEFAULTS[name] : typeof value === 'string' ? value.trim() : value;
  }
  const sent: object = Object.assign(new CreateDeptDto(), fields);
  const problems = validateSync(sent, { stopAtFirstError: true }).flatMap(({ property: field, contexts }) =>
    Object.values<Bilingual>(contexts ?? {}).map((message) => ({ field, message })),
  );
  return { fields: fields as Partial<Pick<DeptFields, K>>, problems };
}

function placeOf(path: unknown): Pick<DeptLine, 'path' | 'parentPath' | 'step' | 'depth'> | null {
  const steps = isText(path, MAX_PATH_LENGTH) ? parsePath(path, MAX_DEPTH) : null;
  const step = steps?.at(-1);
  if (!steps || !step || !steps.every(({ name }) => isText(name, 64))) return null;
  const parentPath = steps.length === 1 ? null : formatPath(steps.slice(0, -1));
  return { path: formatPath(steps), parentPath, step, depth: steps.length };
}

/** The path of the sibling with the same name and the number before. */
export function pathOfPrevious({ parentPath, step: { name, nth } }: DeptLine): string {
  const last = formatStep({ name, nth: nth - 1 });
  return parentPath === null ? last : `${parentPath}/${last}`;
}

export function fieldsOfNew({ step, fields }: DeptLine): DeptFields {
  // Not a spread, which costs thirty times as much on Node 20.
  return Object.assign({}, DEPT_DEFAULTS, fields, { deptName: step.name });
}

// Paths of names: `总公司/研发部`. In a name, `/` and `\` are escaped by `\`. The second sibling with the same name is
// `研发部#2`; a name that itself ends like this is written `\#2`.

export function formatStep({ name, nth }: PathStep): string {
  // Half a million of these are formatted in an export, and few need more.
  if (nth === 1 && !/[\\/#]/.test(name)) return name;
  const escaped = name.replace(/[\\/]/g, '\\$&').replace(/#(?=[0-9]+$)/, '\\#');
  return nth === 1 ? escaped : `${escaped}#${nth}`;
}

export function formatPath(steps: readonly PathStep[]): string {
  return steps.map(formatStep).join('/');
}

/** Null when it is not a path, or has more steps than allowed. */
export function parsePath(path: string, maxSteps = Infinity): PathStep[] | null {
  const steps: PathStep[] = [];
  for (let begin = 0; steps.length < maxSteps;) {
    const { end, ...step } = stepAt(path, begin);
    if (end > path.length) return null;
    steps.push(step);
    if (end === path.length) return steps;
    begin = end + 1;
  }
  return null;
}

/** The step that begins at this index, and where it ends: beyond the path when its last `\` escapes nothing. */
export function stepAt(path: string, begin: number): PathStep & { readonly end: number } {
  let end = begin;
  for (; end < path.length && path[end] !== '/'; end += 1) if (path[end] === '\\') end += 1;
  const raw = path.slice(begin, end);
  const number = /#([1-9][0-9]{0,5})$/.exec(raw);
  return number && !isEscaped(raw, number.index)
    ? { name: unescaped(raw.slice(0, number.index)), nth: Number(number[1]), end }
    : { name: unescaped(raw), nth: 1, end };
}

function isEscaped(raw: string, at: number): boolean {
  let begin = at;
  while (raw[begin - 1] === '\\') begin -= 1;
  return (at - begin) % 2 === 1;
}

function unescaped(raw: string): string {
  return raw.replace(/\\(.)/gsu, '$1').trim();
}
