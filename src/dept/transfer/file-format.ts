import type { Bilingual } from '../../errors/refusal';
import { jsonLength } from '../../web/text-position';
import { DEPT_DEFAULTS, DEPT_DETAILS, type DeptDetail, type TenantryDept } from '../dept.entity';
import { BrokenFile, readLine, type DeptLine, type LineProblem } from './dept-line';

export type ExportedDept = { readonly path: string } & Pick<TenantryDept, 'deptId' | 'parentId' | DeptDetail>;

/** A line of text. Where quotes hold line breaks, it ends with the line on which they end. */
export interface TextLine {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

/** What the lines of a file are read as. */
export interface LineKind<L extends object> {
  /** A table must have a column with one of these names. */
  readonly key: readonly string[];
  /** A valid line, or its problems. */
  read(line: number, values: Readonly<Record<string, unknown>>): L | LineProblem[];
}

/** Lines of an import. */
export const DEPT_LINE: LineKind<DeptLine> = { key: ['path'], read: readLine };

export interface FileFormat {
  readonly type: string;
  /** The types that a file may be sent as. */
  readonly sentAs: readonly string[];
  readonly fileName: string;
  head(withIds: boolean): string;
  /** Whether it is for spreadsheets: it may begin with a byte order mark, and quotes may hold line breaks. */
  readonly isTable: boolean;
  format(dept: ExportedDept, withIds: boolean): string;
  /** Makes the function that reads one file, line by line; it gives null for a line that holds no department. */
  reader<L extends object>(
    kind: LineKind<L>,
    unknown?: CheckName,
  ): (line: TextLine) => L | LineProblem[] | null;
}

/** What is wrong with a name that a file should not have; null where it is ignored. */
export type CheckName = (name: string, known: readonly string[]) => Bilingual | null;

const NOT_JSON: Bilingual = { zh: '不是 JSON 对象', en: 'is not a JSON object' };
const COLUMNS = ['path', ...DEPT_DETAILS] as const;
const COLUMNS_WITH_IDS = ['deptId', 'parentId', ...COLUMNS] as const;
const KNOWN: ReadonlySet<string> = new Set(COLUMNS_WITH_IDS);
const NUMBERS: ReadonlySet<CsvCell> = new Set(
  DEPT_DETAILS.filter((field) => typeof DEPT_DEFAULTS[field] === 'number'),
);
/** How many unknown names of a line are told, and how much of each; and the longest line whose broken place is looked for. */
const [MOST_NAMES, LONGEST_NAME, LONGEST_LOOKED_AT] = [20, 64, 4096];
const BROKEN_QUOTES: Bilingual = {
  zh: '引号未闭合，或位置不正确',
  en: 'has an unclosed quote, or a quote in the wrong place',
};
const badHead = (key: readonly string[]): Bilingual => ({
  zh: `首行必须为列名，须包含 ${key.join(' 或 ')}，且列名不能重复`,
  en: `must name the columns, ${key.join(' or ')} among them, each only once`,
});
const WRONG_WIDTH: Bilingual = { zh: '列数与首行不一致', en: 'has more or fewer cells than the first line' };

const ndjson: FileFormat = {
  type: 'application/x-ndjson',
  // Many generated clients can send a file only as this.
  sentAs: ['application/x-ndjson', 'application/octet-stream'],
  fileName: 'departments.ndjson',
  head: () => '',
  isTable: false,
  // By hand, in a third of the time of JSON.stringify: half a million of these are a file.
  format: (dept, withIds) => {
    const members = (withIds ? COLUMNS_WITH_IDS : COLUMNS).map((name) => `"${name}":${toJson(dept[name])}`);
    return `{${members.join(',')}}\n`;
  },
  reader:
    (kind, unknown) =>
    ({ line, text }) => {
      const values = parseObject(text);
      if (!values) return [{ line, field: 'line', message: brokenJson(text) }];
      const odd = unknownNames(line, Object.keys(values), unknown);
      const read = kind.read(line, values);
      if (odd.length === 0) return read;
      if (Array.isArray(read)) return [...odd, ...read];
      const { path } = read as Pick<LineProblem, 'path'>;
      return odd.map((each) => ({ ...each, path }));
    },
};

const NEEDS_ESCAPES = /["\\\p{Cc}\p{Cs}]/u;

function toJson(value: string | number | null): string {
  if (typeof value !== 'string') return String(value);
  return NEEDS_ESCAPES.test(value) ? JSON.stringify(value) : `"${value}"`;
}

function parseObject(text: string): Record<string, unknown> | null {
  // Nothing else can be an object, and JSON.parse takes long to refuse 64 KB of brackets.
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function unknownNames(line: number, names: readonly string[], unknown?: CheckName): LineProblem[] {
  if (!unknown) return [];
  const odd = names.filter((name) => name !== '' && !KNOWN.has(name));
  return odd.slice(0, MOST_NAMES).flatMap((field) => {
    const message = unknown(field, COLUMNS);
    return message ? [{ line, field: field.slice(0, LONGEST_NAME), message }] : [];
  });
}

/** Where it is broken; not of a long line, where it would take long to find. */
function brokenJson(text: string): Bilingual {
  if (text.length > LONGEST_LOOKED_AT || !text.trimStart().startsWith('{')) return NOT_JSON;
  const column = jsonLength(text) + 1;
  return { zh: `第 ${column} 列起不是有效的 JSON`, en: `is not valid JSON at column ${column}` };
}

/** A table may have other columns too. */
const MAX_COLUMNS = 100;

const csv: FileFormat = {
  type: 'text/csv',
  sentAs: ['text/csv'],
  fileName: 'departments.csv',
  head: (withIds) => csvLine(withIds ? COLUMNS_WITH_IDS : COLUMNS),
  isTable: true,
  format: (dept, withIds) =>
    csvLine(
      (withIds ? COLUMNS_WITH_IDS : COLUMNS).map((column) => {
        const value = dept[column];
        return typeof value === 'string' ? guarded(value) : value;
      }),
    ),
  reader(kind, unknown) {
    let head: readonly CsvCell[] | undefined;
    return (text) => {
      const { line } = text;
      const cells = csvCells(text, MAX_COLUMNS);
      if (isBlank(cells)) return null;
      if (!head) {
        head = cells.map((cell) => cell?.trim() ?? null);
        if (!isHead(head, kind.key)) throw new BrokenFile(line, badHead(kind.key));
        const names = head.filter((name) => name !== null);
        const odd = unknownNames(line, names, unknown);
        return odd.length === 0 ? null : odd;
      }
      if (cells.length !== head.length) return [{ line, field: 'line', message: WRONG_WIDTH }];
      const values = head.map((column, index) => [column ?? '', toValue(column, cells[index] ?? null)]);
      return kind.read(line, Object.fromEntries(values) as Record<string, unknown>);
    };
  },
};

/** The formats that files may have, the default first. */
export const FORMATS: readonly FileFormat[] = [ndjson, csv];

function isHead(cells: readonly CsvCell[], key: readonly string[]): boolean {
  const names = cells.filter((cell) => cell !== null);
  return (
    key.some((name) => names.includes(name)) &&
    new Set(names).size === names.length &&
    cells.length <= MAX_COLUMNS
  );
}

function toValue(column: CsvCell, cell: CsvCell): unknown {
  if (cell === null) return null;
  const text = unguarded(cell);
  return NUMBERS.has(column) && /^-?[0-9]{1,10}$/.test(text.trim()) ? Number(text) : text;
}

/** A cell of RFC 4180: without quotes, an empty one is null; with quotes, it is the empty text. */
export type CsvCell = string | null;

export function csvLine(values: readonly (string | number | null)[]): string {
  const cells = values.map((value) => {
    if (value === null) return '';
    const text = String(value);
    return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

/** What a spreadsheet would take for a formula, with any number of `'` before it. */
const FORMULA = /^'*[=+\-@＝＋－＠\t\r]/;

/** Puts a `'` before what a spreadsheet would take for a formula. `unguarded` removes it again. */
export function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

export function unguarded(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

const CELL = /"([^"]*(?:""[^"]*)*)"|([^",]*)/y;

/** The cells of a line, but at most one more than `maxCells`: a line of nothing but commas would take long. */
export function csvCells({ line, text }: TextLine, maxCells = Infinity): CsvCell[] {
  const cells: CsvCell[] = [];
  for (let at = 0; cells.length <= maxCells; at += 1) {
    CELL.lastIndex = at;
    const [, inQuotes, plain = ''] = CELL.exec(text) ?? [];
    cells.push(inQuotes === undefined ? plain || null : inQuotes.replaceAll('""', '"'));
    at = CELL.lastIndex;
    if (at === text.length) break;
    if (text[at] === ',') continue;
    const breaks = text.slice(0, at).match(/\r\n|\n|\r/g)?.length ?? 0;
    throw new BrokenFile(line + breaks, BROKEN_QUOTES);
  }
  return cells;
}

/** Whether all cells are empty or spaces, as spreadsheets leave them at the end. */
export function isBlank(cells: readonly CsvCell[]): boolean {
  return cells.every((cell) => cell === null || (cell !== '' && cell.trim() === ''));
}
