import { isUtf8 } from 'node:buffer';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { HttpErrors } from '../../errors/http.errors';
import type { Bilingual, FieldProblem } from '../../errors/refusal';
import { TimeSlices } from '../../time/time-slices';
import type { Language } from '../../web/request';
import { BrokenFile, type LineProblem } from './dept-line';
import { utf8Length } from '../../web/text-position';
import type { CheckName, FileFormat, LineKind, TextLine } from './file-format';

/** A file of departments as it is sent. */
export interface DeptFile {
  readonly format: FileFormat;
  /** Its bytes in parts, which can be read once. */
  readonly body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Makes the import happen once; called when all of the body has been read. */
  readonly once?: () => IdempotentRequest | undefined;
  readonly language: Language;
  /** Is asked about fields that are not known. Without it they are ignored. */
  readonly unknown?: CheckName;
}

/** How large a file may be. */
export interface FileLimits {
  readonly bytes: number;
  readonly depts: number;
  /** Blank lines and line breaks in quotes included. */
  readonly lines: number;
}

export const IMPORT_LIMITS: FileLimits = { bytes: 16 * 1024 * 1024, depts: 20_000, lines: 100_000 };
export const MAX_LINE_LENGTH = 65_536;
/** How many bytes are decoded at once. */
const PART = 16 * 1024;

const tooMany = ({ depts, lines }: FileLimits): FieldProblem => ({
  field: 'body',
  message: {
    zh: `最多 ${depts} 个部门、${lines} 行`,
    en: `must have at most ${depts} departments and ${lines} lines`,
  },
});
const BYTE_ORDER_MARK = '\ufeff';
const NOT_UTF8: Bilingual = { zh: '不是 UTF-8 编码', en: 'is not UTF-8' };
const SECOND_MARK: Bilingual = {
  zh: '以第二个字节顺序标记（BOM）开头',
  en: 'begins with a second byte order mark, as after joining two files',
};
const TOO_LONG: Bilingual = {
  zh: `超过 ${MAX_LINE_LENGTH} 个字符，或引号未闭合`,
  en: `is longer than ${MAX_LINE_LENGTH} characters, or has an unclosed quote`,
};

export interface FileContent<L> {
  readonly lines: readonly L[];
  readonly problems: readonly LineProblem[];
  /** Whether all of it was read: what seems to be missing may stand in the rest. */
  readonly isWhole: boolean;
}

/** Reads a file while it arrives; stops at a limit, or when it has found so many problems. */
export async function readFile<L extends object>(
  { format, body, unknown }: Pick<DeptFile, 'format' | 'body' | 'unknown'>,
  kind: LineKind<L>,
  { maxProblems = Infinity, limits = IMPORT_LIMITS }: { maxProblems?: number; limits?: FileLimits } = {},
): Promise<FileContent<L>> {
  const slices = new TimeSlices();
  const splitter = new LineSplitter(format.isTable);
  const read = format.reader(kind, unknown);
  const lines: L[] = [];
  const problems: LineProblem[] = [];
  let count = 0;
  try {
    for await (const text of decode(body, splitter, limits.bytes)) {
      for (const each of splitter.push(text)) {
        if (slices.isOver) await slices.next();
        if (each.text.startsWith(BYTE_ORDER_MARK)) throw new BrokenFile(each.line, SECOND_MARK);
        const line = read(each);
        if (!line) continue;
        count += 1;
        if (count > limits.depts) throw HttpErrors.INVALID({ fields: [tooMany(limits)] });
        if (Array.isArray(line)) problems.push(...line);
        else lines.push(line);
        if (problems.length >= maxProblems) return { lines, problems, isWhole: false };
      }
      if (splitter.breaks > limits.lines) throw HttpErrors.INVALID({ fields: [tooMany(limits)] });
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    problems.push(error.problem);
    return { lines, problems, isWhole: false };
  }
  return { lines, problems, isWhole: true };
}

/** The text of a file in parts of a bounded size, without a byte order mark; null at its end. `lines` has all parts before. */
async function* decode(
  body: DeptFile['body'],
  lines: LineSplitter,
  maxBytes: number,
): AsyncGenerator<string | null, void> {
  const broken = (): BrokenFile => new BrokenFile(lines.breaks + 1, NOT_UTF8);
  let size = 0;
  let isFirst = true;
  let cut = Buffer.alloc(0);
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw HttpErrors.TOO_LARGE();
    for (let at = 0; at < chunk.length; at += PART) {
      const bytes = Buffer.concat([cut, chunk.subarray(at, at + PART)]);
      const whole = bytes.subarray(0, bytes.length - cutOff(bytes));
      cut = bytes.subarray(whole.length);
      const isBroken = !isUtf8(whole);
      const text = (isBroken ? whole.subarray(0, utf8Length(whole)) : whole).toString();
      yield isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
      if (isBroken) throw broken();
      isFirst &&= text === '';
    }
  }
  if (cut.length > 0) throw broken();
  yield null;
}

/** How many bytes at the end are the beginning of a character. */
function cutOff(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

const LF = 10;
const CR = 13;
const QUOTE = 34;

/** Cuts text that comes in parts into lines, which end with LF, CRLF or CR. Blank lines are left out. */
export class LineSplitter {
  breaks = 0;
  #text = '';
  #line = 1;
  /** How much of it has been looked at. */
  #scanned = 0;
  #isInQuotes = false;

  /** With quotes, a line break inside them does not end the line. */
  constructor(private readonly withQuotes: boolean) {}

  /** Takes the next part, or null at the end; gives the lines that end in it. Read them all before the next part. */
  *push(part: string | null): Generator<TextLine, void> {
    const text = this.#text + (part ?? '');
    let begin = 0;
    let at = this.#scanned;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE && this.withQuotes) this.#isInQuotes = !this.#isInQuotes;
      if (code !== LF && code !== CR) continue;
      const end = at;
      if (code === CR) {
        // Its LF may come with the next part.
        if (at + 1 === text.length && part !== null) break;
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
    if (part === null || this.#text.length > MAX_LINE_LENGTH) yield* this.#lineOf(this.#text);
  }

  *#lineOf(text: string): Generator<TextLine, void> {
    if (text.length > MAX_LINE_LENGTH) throw new BrokenFile(this.#line, TOO_LONG);
    if (text.trim() !== '') yield { line: this.#line, text };
  }
}
