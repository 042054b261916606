/** A line of a text. Where quotes hold line breaks, it goes on to the end of the line on which they end. */
export interface TextLine {
  /** The number of the line on which it begins, from 1. */
  readonly line: number;
  readonly text: string;
}

/** A text that cannot be read from some line on. */
export class UnreadableText extends Error {
  constructor(
    readonly line: number,
    readonly problem: 'quotes' | 'length',
  ) {
    super(`The text cannot be read from line ${line} on: ${problem}.`);
  }
}

/** Characters of one line. */
export const MAX_LINE_LENGTH = 65_536;

const LF = 10;
const CR = 13;
const QUOTE = 34;

/** Cuts a text that comes in parts into lines, which end with LF, CRLF or CR. Blank ones are left out. Pure. */
export class LineSplitter {
  /** Line breaks so far. */
  breaks = 0;
  /** The line that has begun and not ended. */
  #text = '';
  #line = 1;
  /** How much of it has been looked at. */
  #scanned = 0;
  #isInQuotes = false;

  /** With quotes, a line break inside them ends no line. */
  constructor(private readonly withQuotes: boolean) {}

  /** Takes the next part; gives the lines that end in it, all of which must be read before the part after it. */
  *push(part: string, isLast = false): Generator<TextLine, void> {
    const text = this.#text + part;
    let begin = 0;
    let at = this.#scanned;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE && this.withQuotes) this.#isInQuotes = !this.#isInQuotes;
      if (code !== LF && code !== CR) continue;
      const end = at;
      if (code === CR) {
        // An LF that belongs to it may come with the next part.
        if (at + 1 === text.length && !isLast) break;
        if (text.charCodeAt(at + 1) === LF) at += 1;
      }
      this.breaks += 1;
      if (this.#isInQuotes) continue;
      yield* this.#lineOf(text.slice(begin, end));
      begin = at + 1;
      this.#line = this.breaks + 1;
    }
    this.#text = text.slice(begin);
    this.#scanned = at - begin;
    if (isLast || this.#text.length > MAX_LINE_LENGTH) yield* this.#lineOf(this.#text);
  }

  *#lineOf(text: string): Generator<TextLine, void> {
    if (text.length > MAX_LINE_LENGTH) throw new UnreadableText(this.#line, 'length');
    if (text.trim() !== '') yield { line: this.#line, text };
  }
}
