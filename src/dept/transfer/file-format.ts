import type { Bilingual } from '../../errors/refusal';
import { csvCells, csvLine, guarded, isBlank, unguarded, type CsvCell } from './csv';
import { MAX_LINE_LENGTH, UnreadableText, type TextLine } from './line-splitter';
import { DEPT_DETAILS, type DeptFields } from '../dept.entity';
import { readLine, type DeptLine, type LineProblem } from './dept-line';

/** A department as a line of a file. */
export type ExportedDept = { readonly path: string } & Omit<DeptFields, 'deptName'>;

/** What a line says, or what is wrong with it; null when it says nothing of a department. */
export type ReadLine = DeptLine | LineProblem[] | null;

/** A file that cannot be read from some line on. */
export class BrokenFile extends Error {
  constructor(readonly problem: LineProblem) {
    super(`The file cannot be read from line ${problem.line} on.`);
  }
}

/** One form of a file of departments. */
export interface FileFormat {
  readonly type: string;
  readonly fileName: string;
  readonly head: string;
  /** Whether it is for spreadsheets: it may begin with a byte order mark, and quotes may hold line breaks. */
  readonly isTable: boolean;
  format(dept: ExportedDept): string;
  /** Gives what reads one file, line by line. */
  reader(): (line: TextLine) => ReadLine;
}

const COLUMNS = ['path', ...DEPT_DETAILS] as const;
const NOT_JSON: Bilingual = { zh: '不是 JSON 对象', en: 'is not a JSON object' };
const BROKEN_QUOTES: Bilingual = {
  zh: '引号未闭合，或位置不正确',
  en: 'has an unclosed quote, or a quote in the wrong place',
};
const TOO_LONG: Bilingual = {
  zh: `超过 ${MAX_LINE_LENGTH} 个字符，或引号未闭合`,
  en: `is longer than ${MAX_LINE_LENGTH} characters, or has an unclosed quote`,
};
const BAD_HEAD: Bilingual = {
  zh: '首行必须为列名，须包含 path，且列名不能重复',
  en: 'must name the columns, path among them, each only once',
};
const WRONG_WIDTH: Bilingual = { zh: '列数与首行不一致', en: 'has more or fewer cells than the first line' };
/** A table may have columns of others too. */
const MOST_COLUMNS = 100;

const ndjson: FileFormat = {
  type: 'application/x-ndjson',
  fileName: 'departments.ndjson',
  head: '',
  // Put together by hand, in a third of the time: half a million of these are a file.
  format: ({ path, orderNum, leader, phone, email, status }) =>
    `{"path":${quoted(path)},"orderNum":${orderNum},"leader":${quoted(leader)},"phone":${quoted(phone)},` +
    `"email":${quoted(email)},"status":"${status}"}\n`,
  isTable: false,
  reader:
    () =>
    ({ line, text }) => {
      const values = parseObject(text);
      return values ? readLine(line, values) : [{ line, field: 'line', message: NOT_JSON }];
    },
};

/** All but a few texts stand in JSON as they are. */
const NEEDS_ESCAPES = /["\\\p{Cc}\p{Cs}]/u;

function quoted(text: string | null): string {
  if (text === null) return 'null';
  return NEEDS_ESCAPES.test(text) ? JSON.stringify(text) : `"${text}"`;
}

const csv: FileFormat = {
  type: 'text/csv',
  fileName: 'departments.csv',
  head: csvLine(COLUMNS),
  isTable: true,
  format: (dept) => csvLine(COLUMNS.map((column) => toCell(dept[column]))),
  reader() {
    let head: readonly CsvCell[] | undefined;
    return (text) => {
      const { line } = text;
      const cells = csvCells(text, MOST_COLUMNS);
      if (isBlank(cells)) return null;
      if (head) {
        const isAsWide = cells.length === head.length;
        return isAsWide
          ? readLine(line, toValues(head, cells))
          : [{ line, field: 'line', message: WRONG_WIDTH }];
      }
      head = cells.map((cell) => cell?.trim() ?? null);
      // Without a head no line can be understood.
      if (!isHead(head)) throw new BrokenFile({ line, field: 'line', message: BAD_HEAD });
      return null;
    };
  },
};

/** The forms that files may have, the usual one first. */
export const FORMATS: readonly FileFormat[] = [ndjson, csv];

/** What is wrong with a file whose text cannot be read on. */
export function asBrokenFile(error: unknown): unknown {
  if (!(error instanceof UnreadableText)) return error;
  const message = error.problem === 'length' ? TOO_LONG : BROKEN_QUOTES;
  return new BrokenFile({ line: error.line, field: 'line', message });
}

function isHead(cells: readonly CsvCell[]): boolean {
  const names = cells.filter((cell) => cell !== null);
  return names.includes('path') && new Set(names).size === names.length && cells.length <= MOST_COLUMNS;
}

/** A number is no formula, even a negative one. */
function toCell(value: string | number | null): string | number | null {
  return typeof value === 'string' ? guarded(value) : value;
}

/** In a table every value is a text, or none. */
function toValues(head: readonly CsvCell[], cells: readonly CsvCell[]): Record<string, unknown> {
  return Object.fromEntries(
    head.map((column, index) => [column ?? '', toValue(column, cells[index] ?? null)]),
  );
}

function toValue(column: CsvCell, cell: CsvCell): unknown {
  if (cell === null) return null;
  const text = unguarded(cell);
  return column === 'orderNum' && /^-?[0-9]{1,10}$/.test(text.trim()) ? Number(text) : text;
}

function parseObject(text: string): Record<string, unknown> | null {
  // Nothing else can be an object, and 64 KB of brackets take long to be found wrong.
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
