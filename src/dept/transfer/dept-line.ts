import { INTEGER_MAX, INTEGER_MIN, isEmailText, isInteger, isText } from '../../http/field-rules';
import type { Bilingual } from '../../http/error-catalogue';
import { MAX_DEPTH } from '../../tree/tree-path';
import { DEPT_DETAILS, type DeptFields } from '../dept.entity';
import { parsePath, type PathStep } from './dept-path';

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
  readonly path: readonly PathStep[];
  readonly fields: Partial<LineFields>;
}

interface Rule {
  readonly passes: (value: unknown) => boolean;
  readonly message: Bilingual;
}

const text = (max: number): Rule => ({
  passes: (value) => value === null || isText(value, max),
  message: { zh: `必须为不超过 ${max} 个字符的文本`, en: `must be a text of at most ${max} characters` },
});

const RULES: Readonly<Record<keyof LineFields, Rule>> = {
  orderNum: {
    passes: (value) => isInteger(value),
    message: {
      zh: `必须为 ${INTEGER_MIN} 到 ${INTEGER_MAX} 的整数`,
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
    message: { zh: "只能为 '0', '1'", en: "must be one of '0', '1'" },
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
  const path = isText(values.path, MOST_PATH) ? parsePath(values.path) : null;
  const goodPath = path && path.length <= MAX_DEPTH && path.every(({ name }) => isText(name, 64));
  const problems: LineProblem[] = goodPath ? [] : [{ line, field: 'path', message: BAD_PATH }];
  const fields: Partial<Record<keyof LineFields, unknown>> = {};
  for (const field of DEPT_DETAILS) {
    const sent = values[field];
    if (sent === undefined) continue;
    const value = sent === null ? DEFAULTS[field] : typeof sent === 'string' ? sent.trim() : sent;
    if (!RULES[field].passes(value)) problems.push({ line, field, message: RULES[field].message });
    fields[field] = value;
  }
  return problems.length > 0 ? problems : { line, path: path ?? [], fields: fields as Partial<LineFields> };
}

/** A new department as its line says, with the defaults for what it does not say. */
export function fieldsOfNew({ path, fields }: DeptLine): DeptFields {
  return { ...DEFAULTS, ...fields, deptName: path.at(-1)?.name ?? '' };
}
