import type { FieldProblem } from '../../errors/refusal';
import { HttpErrors } from '../../errors/http.errors';
import { LineSplitter } from './line-splitter';
import { TimeSlices } from '../../time/time-slices';
import type { DeptFile } from './dept-file.decorator';
import type { DeptLine, LineProblem } from './dept-line';
import { asBrokenFile, BrokenFile, type ReadLine } from './file-format';
import { MAX_BYTES, MAX_DEPTS, MAX_LINES } from './file-limits';

/** So many bytes are read at once. */
const PART = 16 * 1024;

const TOO_MANY: FieldProblem = {
  field: 'body',
  message: {
    zh: `最多 ${MAX_DEPTS} 个部门、${MAX_LINES} 行`,
    en: `must have at most ${MAX_DEPTS} departments and ${MAX_LINES} lines`,
  },
};

/** A file as it was read. */
export interface ReadFile {
  readonly lines: readonly DeptLine[];
  readonly problems: readonly LineProblem[];
}

/** Reads a file while it arrives, and no further than it is worth: up to so many problems, or to a limit. */
export async function readFile(file: DeptFile, mostProblems = Infinity): Promise<ReadFile> {
  const lines: DeptLine[] = [];
  const problems: LineProblem[] = [];
  let count = 0;
  try {
    for await (const line of readLines(file)) {
      count += 1;
      if (count > MAX_DEPTS) throw HttpErrors.INVALID({ fields: [TOO_MANY] });
      if (Array.isArray(line)) problems.push(...line);
      else lines.push(line);
      if (problems.length >= mostProblems) break;
    }
  } catch (error) {
    const broken = asBrokenFile(error);
    if (!(broken instanceof BrokenFile)) throw broken;
    problems.push(broken.problem);
  }
  return { lines, problems };
}

async function* readLines({ format, body }: DeptFile): AsyncGenerator<NonNullable<ReadLine>, void> {
  const splitter = new LineSplitter(format.isTable);
  const read = format.reader();
  const slices = new TimeSlices();
  for await (const { text, isLast } of decode(body, slices)) {
    for await (const each of slices.over(splitter.push(text, isLast))) {
      const line = read(each);
      if (line) yield line;
    }
    if (splitter.breaks > MAX_LINES) throw HttpErrors.INVALID({ fields: [TOO_MANY] });
  }
}

/** The text of a file in parts of a bounded size, without a byte order mark. */
async function* decode(
  body: DeptFile['body'],
  slices: TimeSlices,
): AsyncGenerator<{ text: string; isLast: boolean }, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const toText = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw HttpErrors.MALFORMED();
    }
  };
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw HttpErrors.TOO_LARGE();
    for await (const part of slices.over(partsOf(chunk))) yield { text: toText(part), isLast: false };
  }
  yield { text: toText(), isLast: true };
}

function* partsOf(chunk: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += PART) yield chunk.subarray(at, at + PART);
}
