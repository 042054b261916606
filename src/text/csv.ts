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
/** Where a cell without quotes ends, and what does not belong into one. */
const END = /[,\r\n"]/g;

export function csvLine(values: readonly (string | number | null)[]): string {
  const cells = values.map((value) => {
    if (value === null) return '';
    const text = String(value);
    return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

/** Records with more cells than that end with an empty rest: nobody means them, and reading on would take long. */
export function* parseCsv(text: string, mostCells = Infinity): Generator<CsvRecord> {
  const reader = new CellReader(text);
  while (!reader.isAtEnd) {
    const begin = reader.line;
    const cells: (string | null)[] = [];
    do cells.push(reader.cell());
    while (reader.comma() && cells.length <= mostCells);
    if (cells.length > mostCells) reader.skipLine();
    if (cells.some((cell) => cell !== null && (cell === '' || cell.trim() !== '')))
      yield { line: begin, cells };
  }
}

/** Goes through a text cell by cell. */
class CellReader {
  line = 1;
  #at: number;

  constructor(private readonly text: string) {
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  cell(): string | null {
    if (this.text[this.#at] === '"') return this.#quoted();
    END.lastIndex = this.#at;
    const end = END.exec(this.text)?.index ?? this.text.length;
    if (this.text[end] === '"') throw new CsvProblem(this.line);
    const cell = this.text.slice(this.#at, end);
    this.#at = end;
    return cell === '' ? null : cell;
  }

  /** Whether another cell follows; otherwise the record's end is passed. */
  comma(): boolean {
    const end = this.text[this.#at];
    this.#at += 1;
    if (end === ',') return true;
    if (end === '\r' && this.text[this.#at] === '\n') this.#at += 1;
    if (end !== undefined && end !== '\r' && end !== '\n') throw new CsvProblem(this.line);
    this.line += 1;
    return false;
  }

  skipLine(): void {
    const end = this.text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.text.length : end + 1;
    this.line += 1;
  }

  #quoted(): string {
    const begin = this.line;
    for (let from = this.#at + 1; ;) {
      const quote = this.text.indexOf('"', from);
      if (quote < 0) throw new CsvProblem(begin);
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
