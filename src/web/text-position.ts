import type { Bilingual } from '../errors/refusal';

/** Where a text is broken, for people who must find the place. Pure. */

const UNKNOWN = Buffer.from('\ufffd');

/** How many of these bytes, from the first, are whole characters of UTF-8. */
export function utf8Length(bytes: Buffer): number {
  let length = 0;
  for (const character of bytes.toString()) {
    // It stands for what is broken, unless it was sent.
    if (character === '\ufffd' && !bytes.subarray(length, length + UNKNOWN.length).equals(UNKNOWN)) break;
    length += Buffer.byteLength(character);
  }
  return length;
}

/** A place in a text as editors count it, from 1. */
export function placeIn(text: string, at: number): Bilingual {
  const lines = text.slice(0, at).split(/\r\n|\n|\r/);
  const [line, column] = [lines.length, (lines.at(-1) ?? '').length + 1];
  return { zh: `第 ${line} 行第 ${column} 列`, en: `line ${line}, column ${column}` };
}

const SPACES = /[ \t\n\r]*/y;
const CHARACTERS = /(?:[^"\\\p{Cc}]+|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const DEEPEST = 500;

/**
 * Where a text stops being JSON: the first character that cannot stand there, or its end. `JSON.parse` tells it only in some of its
 * messages. It looks no deeper than 500 levels.
 */
export function jsonLength(text: string): number {
  let [at, depth] = [0, 0];
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const takeMark = (mark: string): boolean => {
    take(SPACES);
    const isThere = text[at] === mark;
    if (isThere) at += 1;
    return isThere;
  };
  const takeText = (): boolean => takeMark('"') && take(CHARACTERS) && take(/"/y);
  const takeMember = (): boolean => takeText() && takeMark(':') && takeValue();
  const takeAll = (takeOne: () => boolean, close: string): boolean => {
    if (takeMark(close)) return true;
    depth += 1;
    do if (depth > DEEPEST || !takeOne()) return false;
    while (takeMark(','));
    depth -= 1;
    return takeMark(close);
  };
  const takeValue = (): boolean => {
    if (takeMark('{')) return takeAll(takeMember, '}');
    if (takeMark('[')) return takeAll(takeValue, ']');
    return takeText() || take(SCALAR);
  };
  if (takeValue()) take(SPACES);
  return at;
}
