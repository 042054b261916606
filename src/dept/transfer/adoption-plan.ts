import { findPlaces, type ChildNode } from '../../database/examine-tree';
import { MAX_DEPTH, type Place } from '../../database/tree-path';
import { HttpErrors } from '../../errors/http.errors';
import type { Bilingual, FieldProblem } from '../../errors/refusal';
import { namesOf } from '../../resource/fields';
import { TimeSlices } from '../../time/time-slices';
import type { ZonedTime } from '../../time/zoned-time';
import { isText, parseNumericId } from '../../web/field-rules';
import { DEPT_DEFAULTS, DEPT_FIELDS, ROOT_ID } from '../dept.entity';
import type { AdoptedRow } from '../locked-dept-tree';
import { checkFields } from './dept-line';

type Id = number | string | bigint;
type Text = string | number | bigint | null;
type Time = Date | string | null;

/**
 * A department as the system that has kept it knows it. Fields are named as those of a `DeptDto`; what is not given gets its
 * default. Texts without an offset from UTC are times in the module's time zone.
 */
export interface AdoptedDept {
  /** From 1 to 2^52. */
  readonly deptId: Id;
  /** 0 and null are the top level. */
  readonly parentId?: Id | null;
  readonly deptName?: Text;
  readonly orderNum?: number | string | null;
  readonly leader?: Text;
  readonly phone?: Text;
  readonly email?: Text;
  /** `0` normal, `1` disabled. */
  readonly status?: Text;
  /** `2` is deleted: such a department is left out. */
  readonly delFlag?: Text;
  readonly createBy?: Text;
  readonly createTime?: Time;
  readonly updateBy?: Text;
  readonly updateTime?: Time;
}

const COLUMNS: Record<keyof AdoptedDept, string> = {
  deptId: 'dept_id',
  parentId: 'parent_id',
  deptName: 'dept_name',
  orderNum: 'order_num',
  leader: 'leader',
  phone: 'phone',
  email: 'email',
  status: 'status',
  delFlag: 'del_flag',
  createBy: 'create_by',
  createTime: 'create_time',
  updateBy: 'update_by',
  updateTime: 'update_time',
};
export const ADOPTED_FIELDS = namesOf(COLUMNS);

/** Which column of a table, or field of a file, holds a field of a department. */
export type ColumnNames = Partial<Record<keyof AdoptedDept, string>>;

/**
 * A department from a row of a table or a file. A field has the name that `names` gives, or its own in camel case or in snake case,
 * as the columns of RuoYi's `sys_dept` have it. Other columns, `ancestors` among them, are ignored.
 */
export function toAdoptedDept(row: Readonly<Record<string, unknown>>, names: ColumnNames = {}): AdoptedDept {
  refuseUnknownColumns(Object.keys(row), names);
  return adoptedFrom(row, names);
}

/** A wrong name must not look like a column without values: a flag of deletion that is not found would bring departments back. */
export function refuseUnknownColumns(columns: readonly string[], names: ColumnNames): void {
  const unknown = Object.values(names).find((name) => !columns.includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no column '${unknown}'. There are: ${columns.join(', ')}.`);
  if (!idColumns(names).some((id) => columns.includes(id)))
    throw new Error(
      `There is no column '${COLUMNS.deptId}': name the one for deptId. There are: ${columns.join(', ')}.`,
    );
}

/** The columns that may hold the ids. */
export function idColumns({ deptId }: ColumnNames): string[] {
  return deptId === undefined ? ['deptId', COLUMNS.deptId] : [deptId];
}

/** A department from a row that may lack columns, as lines of a file do. */
export function adoptedFrom(row: Readonly<Record<string, unknown>>, names: ColumnNames): AdoptedDept {
  const fields = ADOPTED_FIELDS.map((field) => {
    const name = names[field];
    return [field, name === undefined ? (row[field] ?? row[COLUMNS[field]]) : row[name]];
  });
  return Object.fromEntries(fields) as AdoptedDept;
}

/** How many departments one adoption takes: all of them are kept in memory until COMMIT. */
export const MAX_ADOPTED = 200_000;
/** Half of what an id may be, so that there are as many again for departments to come. */
const MAX_ID = 2 ** 52;
/** How many problems one refusal names. */
export const MAX_PROBLEMS = 1000;
/** Not every database has earlier times. */
const FIRST_YEAR = 1000;

const BAD_ID: Bilingual = { zh: 'ID 必须为 1 到 2^52 之间的整数', en: 'must be an integer from 1 to 2^52' };
const BAD_PARENT: Bilingual = { zh: '必须为部门 ID 或 0', en: 'must be the id of a department, or 0' };
const BAD_FLAG: Bilingual = { zh: '只能为 0 或 2', en: "must be '0' or '2'" };
const BAD_TIME: Bilingual = { zh: '必须为有效时间', en: 'must be a time' };
const BAD_USER: Bilingual = {
  zh: '必须为不超过 64 个字符的文本',
  en: 'must be text of at most 64 characters',
};
const DOUBLE: Bilingual = { zh: '重复', en: 'is the id of two departments' };
const TAKEN: Bilingual = { zh: '已被其他部门使用', en: 'is the id of a department that exists already' };
const CYCLE: Bilingual = { zh: '使该部门成为自己的上级', en: 'makes the department its own ancestor' };
const TOO_DEEP: Bilingual = {
  zh: `使部门层级超过 ${MAX_DEPTH} 级`,
  en: `puts the department below level ${MAX_DEPTH}`,
};
const TOO_MANY: FieldProblem = {
  field: 'rows',
  message: { zh: `最多 ${MAX_ADOPTED} 个部门`, en: `must be at most ${MAX_ADOPTED} departments` },
};
const noParent = (parentId: number): Bilingual => ({
  zh: `上级部门 ${parentId} 已删除或不存在`,
  en: `is ${parentId}, which is deleted or missing`,
});

/** What an adoption will write, parents before their children, and what is wrong with it. */
export interface AdoptionPlan {
  readonly rows: readonly AdoptedRow[];
  /** How many were left out because they are deleted. */
  readonly leftOut: number;
  readonly problems: readonly FieldProblem[];
}

/** Checks departments, each by itself and all as a tree. */
export async function planAdoption(
  depts: Iterable<AdoptedDept> | AsyncIterable<AdoptedDept>,
  time: ZonedTime,
): Promise<AdoptionPlan> {
  const slices = new TimeSlices();
  const problems: FieldProblem[] = [];
  const read = new Map<number, ReadDept>();
  let [count, leftOut] = [0, 0];
  for await (const dept of depts) {
    if (slices.isOver) await slices.next();
    count += 1;
    if (count > MAX_ADOPTED) throw HttpErrors.INVALID({ fields: [TOO_MANY] });
    const { deptId, delFlag } = dept;
    const id = parseNumericId(textOfBig(deptId));
    if (String(delFlag ?? '0') === '2') leftOut += 1;
    else if (id === null || id < 1 || id > MAX_ID)
      problems.push({ ...nameOf(deptId, count), field: 'deptId', message: BAD_ID });
    else if (read.has(id)) problems.push({ id, field: 'deptId', message: DOUBLE });
    else read.set(id, readDept(id, dept, time, problems));
    if (problems.length >= MAX_PROBLEMS) return { rows: [], leftOut, problems };
  }
  const levels = await placeOnLevels(read, problems);
  return { rows: levels.flat(), leftOut, problems };
}

/** Problems for ids that departments of some tenant have already. */
export function takenProblems(taken: readonly number[]): FieldProblem[] {
  return taken.map((id) => ({ id, field: 'deptId', message: TAKEN }));
}

export function refuseProblems(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw HttpErrors.INVALID({ fields: problems.slice(0, MAX_PROBLEMS) });
}

interface ReadDept {
  readonly parentId: number;
  readonly row: Omit<AdoptedRow, keyof Place | 'parentId'>;
}

/** The columns of one department but for its place; adds what is wrong with it to `problems`. */
function readDept(deptId: number, dept: AdoptedDept, time: ZonedTime, problems: FieldProblem[]): ReadDept {
  const wrong = (field: keyof AdoptedDept, message: Bilingual): void => {
    problems.push({ id: deptId, field, message });
  };
  const values = Object.fromEntries(DEPT_FIELDS.map((field) => [field, textOf(dept[field])]));
  if (/^-?[0-9]{1,10}$/.test(values.orderNum as string)) values.orderNum = Number(values.orderNum);
  const { fields, problems: found } = checkFields(values, DEPT_FIELDS);
  for (const { field, message } of found) wrong(field as keyof AdoptedDept, message);
  const parentId = parseNumericId(textOfBig(dept.parentId ?? ROOT_ID));
  if (parentId === null) wrong('parentId', BAD_PARENT);
  if (String(dept.delFlag ?? '0') !== '0') wrong('delFlag', BAD_FLAG);
  const stamps: Record<string, string | Date> = {};
  for (const field of ['createBy', 'updateBy'] as const) {
    const user = textOf(dept[field]);
    if (user == null) continue;
    if (isText(user, 64)) stamps[field] = user;
    else wrong(field, BAD_USER);
  }
  for (const field of ['createTime', 'updateTime'] as const) {
    const value = dept[field];
    if (value == null) continue;
    const instant = instantOf(value, time);
    if (instant) stamps[field] = instant;
    else wrong(field, BAD_TIME);
  }
  return { parentId: parentId ?? ROOT_ID, row: Object.assign({ deptId, ...stamps }, DEPT_DEFAULTS, fields) };
}

/** A department whose id is wrong: by what was given as its id, or by its place among the others. */
function nameOf(deptId: unknown, line: number): Pick<FieldProblem, 'id' | 'line'> {
  const id = textOf(deptId);
  return typeof id === 'string' && id !== '' ? { id: id.slice(0, 64) } : { line };
}

function textOf(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : textOfBig(value);
}

function textOfBig(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Databases know more than milliseconds, and MySQL has months and days of zero, which drivers give as no date. */
function instantOf(value: unknown, time: ZonedTime): Date | null {
  const text = typeof value === 'string' ? value.trim().replace(/(\.\d{3})\d+/, '$1') : '';
  const instant = value instanceof Date ? value : time.parse(text)?.from;
  const year = instant?.getUTCFullYear() ?? 0;
  return instant && year >= FIRST_YEAR && year <= 9999 ? instant : null;
}

/** The rows by their depth; adds what is wrong with the tree to `problems`. */
async function placeOnLevels(
  read: ReadonlyMap<number, ReadDept>,
  problems: FieldProblem[],
): Promise<AdoptedRow[][]> {
  const slices = new TimeSlices();
  const nodes: ChildNode[] = [];
  for (const [key, { parentId }] of read) nodes.push({ key, parent: parentId === ROOT_ID ? null : parentId });
  const { places, orphans, cycles } = await findPlaces(nodes);
  for (const id of orphans.map(Number))
    problems.push({ id, field: 'parentId', message: noParent(read.get(id)?.parentId ?? ROOT_ID) });
  for (const id of cycles.map(Number)) problems.push({ id, field: 'parentId', message: CYCLE });
  const levels: AdoptedRow[][] = Array.from({ length: MAX_DEPTH }, () => []);
  for (const [key, place] of places) {
    if (slices.isOver) await slices.next();
    const id = Number(key);
    const { parentId, row } = read.get(id) ?? {};
    if (!row || parentId === undefined) continue;
    const level = levels[place.depth - 1];
    if (level) level.push(Object.assign(row, { parentId }, place));
    else if (place.depth === MAX_DEPTH + 1) problems.push({ id, field: 'parentId', message: TOO_DEEP });
  }
  return levels;
}
