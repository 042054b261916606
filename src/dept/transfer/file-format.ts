import type { Bilingual } from '../../http/error-catalogue';
import { csvLine, CsvProblem, parseCsv } from '../../text/csv';
import type { DeptFields } from '../dept.entity';
import { LINE_FIELDS, readLine, type DeptLine, type LineProblem } from './dept-line';

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

const COLUMNS = ['path', ...LINE_FIELDS] as const;
const NOT_JSON: Bilingual = { zh: '不是 JSON 对象', en: 'is not a JSON object' };
const BROKEN_QUOTES: Bilingual = { zh: '引号没有正确结束', en: 'has quotes that do not end rightly' };
const NO_PATH: Bilingual = {
  zh: '首行必须包含 path 列',
  en: 'must be the head of the table, with a column path',
};

const ndjson: FileFormat = {
  type: 'application/x-ndjson',
  fileName: 'departments.ndjson',
  head: '',
  format: (dept) => `${JSON.stringify(dept)}\n`,
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

const csv: FileFormat = {
  type: 'text/csv',
  fileName: 'departments.csv',
  head: csvLine(COLUMNS),
  format: (dept) => csvLine(COLUMNS.map((column) => dept[column])),
  *parse(text) {
    let head: readonly (string | null)[] | undefined;
    try {
      for (const { line, cells } of parseCsv(text)) {
        if (head) {
          const entries = head.map((column, index) => [column ?? '', toValue(column, cells[index] ?? null)]);
          yield readLine(line, Object.fromEntries(entries) as Record<string, unknown>);
        } else {
          head = cells.map((cell) => cell?.trim() ?? null);
          if (!head.includes('path')) {
            yield [{ line, field: 'path', message: NO_PATH }];
            return;
          }
        }
      }
    } catch (error) {
      if (!(error instanceof CsvProblem)) throw error;
      yield [{ line: error.line, field: 'line', message: BROKEN_QUOTES }];
    }
  },
};

/** The forms that files may have, the usual one first. */
export const FORMATS: readonly FileFormat[] = [ndjson, csv];

/** In a table every value is a text; an empty path is the path of the empty name. */
function toValue(column: string | null, cell: string | null): unknown {
  if (column === 'path') return cell ?? '';
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
