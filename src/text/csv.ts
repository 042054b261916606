/** Comma-separated values as RFC 4180 has them. Pure. */

/** A record, and the line it begins on. An empty cell without quotes is null; with quotes it is the empty text. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly (string | null)[];
}

/** A file that cannot be read from some line on. */
export class CsvProblem extends Error {
  constructor(readonly line: number) {
    super(`The quotes that open on line ${line} are not closed, or text follows them.`);
  }
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
/** One cell with what ends it: a quoted one (in it, two quotes are one), or a plain one. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

export function csvLine(values: readonly (string | number | null)[]): string {
  const cells = values.map((value) => {
    if (value === null) return '';
    const text = String(value);
    return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

export function* parseCsv(text: string): Generator<CsvRecord> {
  const cell = new RegExp(CELL);
  let line = 1;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const cells: (string | null)[] = [];
    const begin = line;
    for (let end = ','; end === ',';) {
      cell.lastIndex = at;
      const found = cell.exec(text);
      if (!found) throw new CsvProblem(line);
      const [all, quoted, plain] = found;
      end = found[3] ?? '';
      cells.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? null : (plain ?? null)));
      line += all.match(/\r\n|\n|\r/g)?.length ?? 0;
      at += all.length;
    }
    if (cells.length > 1 || cells[0] !== null) yield { line: begin, cells };
  }
}
