import { UnreadableText, type TextLine } from './line-splitter';

/** Comma-separated values as RFC 4180 has them. Pure. */

/** An empty cell without quotes is null; with quotes it is the empty text. */
export type CsvCell = string | null;

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
/** Where a cell without quotes ends, and what does not belong into one. */
const END = /[,"]/g;

export function csvLine(values: readonly (string | number | null)[]): string {
  const cells = values.map((value) => {
    if (value === null) return '';
    const text = String(value);
    return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

/** What a spreadsheet would take for a formula, with any number of `'` before it. */
const FORMULA = /^'*[=+\-@＝＋－＠\t\r]/;
const GUARDED_FORMULA = /^'+[=+\-@＝＋－＠\t\r]/;

/** Puts a `'` before what a spreadsheet would take for a formula. `unguarded` takes exactly this one off again. */
export function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

export function unguarded(text: string): string {
  return GUARDED_FORMULA.test(text) ? text.slice(1) : text;
}

/** The cells of a line, but one more than `mostCells` at most: nobody means a longer one, and reading on would take long. */
export function csvCells({ line, text }: TextLine, mostCells = Infinity): CsvCell[] {
  const reader = new CellReader(text, line);
  const cells: CsvCell[] = [];
  do cells.push(reader.cell());
  while (reader.comma() && cells.length <= mostCells);
  return cells;
}

/** Whether all cells are empty or spaces, as spreadsheets leave them at the end. */
export function isBlank(cells: readonly CsvCell[]): boolean {
  return cells.every((cell) => cell === null || (cell !== '' && cell.trim() === ''));
}

/** Goes through a line cell by cell. */
class CellReader {
  #at = 0;

  constructor(
    private readonly text: string,
    private line: number,
  ) {}

  cell(): CsvCell {
    if (this.text[this.#at] === '"') return this.#quoted();
    END.lastIndex = this.#at;
    const end = END.exec(this.text)?.index ?? this.text.length;
    if (this.text[end] === '"') throw new UnreadableText(this.line, 'quotes');
    const cell = this.text.slice(this.#at, end);
    this.#at = end;
    return cell === '' ? null : cell;
  }

  /** Whether another cell follows. */
  comma(): boolean {
    if (this.#at === this.text.length) return false;
    if (this.text[this.#at] !== ',') throw new UnreadableText(this.line, 'quotes');
    this.#at += 1;
    return true;
  }

  #quoted(): string {
    for (let from = this.#at + 1; ;) {
      const quote = this.text.indexOf('"', from);
      if (quote < 0) throw new UnreadableText(this.line, 'quotes');
      if (this.text[quote + 1] === '"') {
        from = quote + 2;
        continue;
      }
      const inside = this.text.slice(this.#at + 1, quote);
      this.#at = quote + 1;
      this.line += inside.match(/\r\n|\n|\r/g)?.length ?? 0;
      return inside.replaceAll('""', '"');
    }
  }
}
