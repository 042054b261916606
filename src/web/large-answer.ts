import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { TimeSlices } from '../time/time-slices';

/** How many characters are hashed and sent in one go. */
const PART = 65_536;
/** How many elements of a list are written in one go. */
const AT_ONCE = 50;
/** An answer with so many elements is written in about three milliseconds. Slices would cost three times as much CPU. */
const SMALL = 500;

/** A result whose JSON may be megabytes: it is made and sent in time slices, because requests of others would wait for it. */
export class LargeAnswer {
  private constructor(readonly data: object) {}

  /** The result itself where it is small. */
  static of<T extends object>(data: T): T | LargeAnswer {
    return elementsIn(data, SMALL) > SMALL ? new LargeAnswer(data) : data;
  }
}

/** The JSON of a value, in parts. */
export class JsonParts {
  private constructor(
    readonly value: unknown,
    private readonly parts: readonly Buffer[],
    /** The hash of the whole text. */
    readonly digest: string,
  ) {}

  static async of(value: unknown): Promise<JsonParts> {
    const slices = new TimeSlices();
    const hash = createHash('sha1');
    const parts: Buffer[] = [];
    let text = '';
    const endPart = (): void => {
      const part = Buffer.from(text);
      hash.update(part);
      parts.push(part);
      text = '';
    };
    for (const piece of piecesOf(value)) {
      text += piece;
      if (text.length >= PART) endPart();
      if (slices.isOver) await slices.next();
    }
    if (text !== '') endPart();
    return new JsonParts(value, parts, hash.digest('base64url'));
  }

  /** What Nest replies with. A text goes to Express, which drops it where the client has it already. */
  toReply({ fresh }: Request): string | StreamableFile {
    const [first = Buffer.of()] = this.parts;
    if (fresh || this.parts.length === 1) return first.toString();
    const length = this.parts.reduce((sum, part) => sum + part.length, 0);
    return new StreamableFile(Readable.from(this.#inSlices(), { objectMode: false }), { length });
  }

  /** The system would take megabytes in one go, too. */
  async *#inSlices(): AsyncGenerator<Buffer> {
    const slices = new TimeSlices();
    for (const part of this.parts) {
      yield part;
      if (slices.isOver) await slices.next();
    }
  }
}

/** What `JSON.stringify` gives, in pieces. */
function* piecesOf(value: unknown): Generator<string> {
  if (!hasList(value)) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* elementsOf(value);
  else {
    let sign = '{';
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined) continue;
      yield `${sign}${JSON.stringify(name)}:`;
      yield* piecesOf(each);
      sign = ',';
    }
    yield '}';
  }
}

/** Some elements at once: one at a time costs half as much again. */
function* elementsOf(list: readonly unknown[]): Generator<string> {
  let sign = '[';
  for (let at = 0; at < list.length; sign = ',') {
    const begin = at;
    while (at < list.length && at - begin < AT_ONCE && !hasList(list[at])) at += 1;
    if (at > begin) yield sign + JSON.stringify(list.slice(begin, at)).slice(1, -1);
    else {
      yield sign;
      yield* piecesOf(list[at]);
      at += 1;
    }
  }
  yield ']';
}

/** How many elements all lists in a value have. It stops counting where they are more than `most`. */
function elementsIn(value: object, most: number): number {
  let count = Array.isArray(value) ? value.length : 0;
  for (const each of Object.values(value)) {
    if (count > most) break;
    if (isObject(each)) count += elementsIn(each, most - count);
  }
  return count;
}

/** Whether a value is a list with elements, or has one below it. What says itself how it becomes JSON is not looked into. */
function hasList(value: unknown): value is object {
  if (!isObject(value) || 'toJSON' in value) return false;
  if (Array.isArray(value)) return value.length > 0;
  for (const name in value) {
    const each = (value as Readonly<Record<string, unknown>>)[name];
    // Most are texts and numbers, of which there are many.
    if (isObject(each) && hasList(each)) return true;
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
