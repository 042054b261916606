import type { Bilingual } from '../../http/error-catalogue';
import { csvLine, CsvProblem, parseCsv } from '../../text/csv';
import { DEPT_DETAILS, type DeptFields } from '../dept.entity';
import { readLine, type DeptLine, type LineProblem } from './dept-line';

/** A department as a line of a file. */
export type ExportedDept = { readonly path: string } & Omit<DeptFields, 'deptName'>;

type Line = DeptLine | LineProblem[];

/** One form of a file of departments. */
export interface FileFormat {
  readonly type: string;
  readonly fileName: string;
  readonly head: string;
  format(dept: ExportedDept): string;
  parse(text: string): Generator<Line>;
}

const COLUMNS = ['path', ...DEPT_DETAILS] as const;
const NOT_JSON: Bilingual = { zh: '不是 JSON 对象', en: 'is not a JSON object' };
const BROKEN_QUOTES: Bilingual = { zh: '引号没有正确结束', en: 'has quotes that do not end rightly' };
const BAD_HEAD: Bilingual = {
  zh: '首行必须为列名，包含 path，且不重复',
  en: 'must be the head of the table: different names of columns, path among them',
};
const WRONG_WIDTH: Bilingual = { zh: '列数与首行不同', en: 'has more or fewer cells than the head' };
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
  *parse(text) {
    let line = 0;
    for (const each of text.replace(/^\ufeff/, '').split('\n')) {
      line += 1;
      if (each.trim() === '') continue;
      const values = parseObject(each);
      yield values ? readLine(line, values) : [{ line, field: 'line', message: NOT_JSON }];
    }
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
  format: (dept) => csvLine(COLUMNS.map((column) => dept[column])),
  *parse(text) {
    let head: readonly (string | null)[] | undefined;
    try {
      for (const { line, cells } of parseCsv(text, MOST_COLUMNS)) {
        const problem = head ? problemOfRow(head, cells) : problemOfHead(cells);
        if (problem) yield [{ line, field: 'line', message: problem }];
        else if (head) yield readLine(line, toValues(head, cells));
        else head = cells.map((cell) => cell?.trim() ?? null);
        // Without a head no line can be understood.
        if (!head) return;
      }
    } catch (error) {
      if (!(error instanceof CsvProblem)) throw error;
      yield [{ line: error.line, field: 'line', message: BROKEN_QUOTES }];
    }
  },
};

/** The forms that files may have, the usual one first. */
export const FORMATS: readonly FileFormat[] = [ndjson, csv];

function problemOfHead(cells: readonly (string | null)[]): Bilingual | null {
  const names = cells.flatMap((cell) => cell?.trim() ?? []);
  return names.includes('path') && new Set(names).size === names.length && cells.length <= MOST_COLUMNS
    ? null
    : BAD_HEAD;
}

/** A comma too many or too few would shift values into the wrong columns. */
function problemOfRow(head: readonly unknown[], cells: readonly unknown[]): Bilingual | null {
  return cells.length === head.length ? null : WRONG_WIDTH;
}

/** In a table every value is a text, or none. */
function toValues(
  head: readonly (string | null)[],
  cells: readonly (string | null)[],
): Record<string, unknown> {
  return Object.fromEntries(
    head.map((column, index) => [column ?? '', toValue(column, cells[index] ?? null)]),
  );
}

function toValue(column: string | null, cell: string | null): unknown {
  return column === 'orderNum' && cell !== null && /^-?[0-9]{1,10}$/.test(cell.trim()) ? Number(cell) : cell;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
