import { INTEGER_MAX, INTEGER_MIN, isEmailText, isInteger, isText } from '../../web/field-rules';
import type { Bilingual } from '../../errors/refusal';
import { MAX_DEPTH } from '../../tree/tree-path';
import { DEPT_DETAILS, type DeptFields } from '../dept.entity';
import { formatPath, formatStep, parsePath, type PathStep } from './dept-path';

/** What a file says of a department, its name aside: that is the end of its path. */
export type LineFields = Omit<DeptFields, 'deptName'>;

const DEFAULTS: LineFields = { orderNum: 0, leader: null, phone: null, email: null, status: '0' };

/** What is wrong on a line. */
export interface LineProblem {
  readonly line: number;
  readonly field: string;
  readonly message: Bilingual;
}

/** A line of a file that can be meant. Fields that it does not have are left as they are. */
export interface DeptLine {
  readonly line: number;
  /** In its only form: the same place is always written alike. */
  readonly path: string;
  /** The path of its parent; null at the top level. */
  readonly parentPath: string | null;
  /** The last step of its path. */
  readonly step: PathStep;
  /** From 1. */
  readonly depth: number;
  readonly fields: Partial<LineFields>;
}

interface Rule {
  readonly passes: (value: unknown) => boolean;
  readonly message: Bilingual;
}

const text = (max: number): Rule => ({
  passes: (value) => value === null || isText(value, max),
  message: { zh: `必须为不超过 ${max} 个字符的文本`, en: `must be text of at most ${max} characters` },
});

const RULES: Readonly<Record<keyof LineFields, Rule>> = {
  orderNum: {
    passes: (value) => isInteger(value),
    message: {
      zh: `必须为 ${INTEGER_MIN} 到 ${INTEGER_MAX} 之间的整数`,
      en: `must be an integer from ${INTEGER_MIN} to ${INTEGER_MAX}`,
    },
  },
  leader: text(64),
  phone: text(32),
  email: {
    passes: (value) => value === null || isEmailText(value, 100),
    message: {
      zh: '必须为不超过 100 个字符的邮箱地址',
      en: 'must be an e-mail address of at most 100 characters',
    },
  },
  status: {
    passes: (value) => value === '0' || value === '1',
    message: { zh: '只能为 0 或 1', en: "must be '0' or '1'" },
  },
};

/** Longer than any path of 64 names of 64 characters, each escaped and numbered. */
const MOST_PATH = 20_000;

const BAD_PATH: Bilingual = {
  zh: `必须为 1 到 ${MAX_DEPTH} 级、用 / 分隔的名称路径，每个名称不超过 64 个字符`,
  en: `must be a path of 1 to ${MAX_DEPTH} names separated by /, each of at most 64 characters`,
};

/** Reads what one line says; gives its problems when it cannot be meant. Null is the same as the default. */
export function readLine(line: number, values: Readonly<Record<string, unknown>>): DeptLine | LineProblem[] {
  const place = placeOf(values.path);
  const problems: LineProblem[] = place ? [] : [{ line, field: 'path', message: BAD_PATH }];
  const fields: Partial<Record<keyof LineFields, unknown>> = {};
  for (const field of DEPT_DETAILS) {
    const sent = values[field];
    if (sent === undefined) continue;
    const value = sent === null ? DEFAULTS[field] : typeof sent === 'string' ? sent.trim() : sent;
    if (!RULES[field].passes(value)) problems.push({ line, field, message: RULES[field].message });
    fields[field] = value;
  }
  return place && problems.length === 0
    ? { line, ...place, fields: fields as Partial<LineFields> }
    : problems;
}

/** Null when it is no path, or one that no department can have. */
function placeOf(path: unknown): Pick<DeptLine, 'path' | 'parentPath' | 'step' | 'depth'> | null {
  const steps = isText(path, MOST_PATH) ? parsePath(path, MAX_DEPTH) : null;
  const step = steps?.at(-1);
  if (!steps || !step || !steps.every(({ name }) => isText(name, 64))) return null;
  const parentPath = steps.length === 1 ? null : formatPath(steps.slice(0, -1));
  return { path: formatPath(steps), parentPath, step, depth: steps.length };
}

/** The path of the sibling with the same name and another number. */
export function sameNamedPath({ parentPath, step }: DeptLine, nth: number): string {
  const last = formatStep({ name: step.name, nth });
  return parentPath === null ? last : `${parentPath}/${last}`;
}

/** A new department as its line says, with the defaults for what it does not say. */
export function fieldsOfNew({ step, fields }: DeptLine): DeptFields {
  return { ...DEFAULTS, ...fields, deptName: step.name };
}
