import type { Bilingual } from '../errors/refusal';

/** Where a text is broken, for people who must find the place. Pure. */

/** How many of these bytes, from the first, are whole characters of UTF-8. */
export function utf8Length(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length + 1];
  let text = '';
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const found = textOf(bytes.subarray(0, middle));
    if (found === null) bad = middle;
    else [good, text] = [middle, found];
  }
  return Buffer.byteLength(text);
}

/** Without the beginning of a character at its end; null when it is no UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

/** A place in a text as editors count it, from 1. */
export function placeIn(text: string, at: number): Bilingual {
  const lines = text.slice(0, at).split(/\r\n|\n|\r/);
  const [line, column] = [lines.length, (lines.at(-1) ?? '').length + 1];
  return { zh: `第 ${line} 行第 ${column} 列`, en: `line ${line}, column ${column}` };
}

const SPACES = ' \t\n\r';
const TEXT = /[\x20\x21\x23-\x5b\x5d-\u{10ffff}]*/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const CLOSE: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * Where a text stops being JSON: the first character that cannot stand there, or its end. `JSON.parse` tells it only in some of its
 * messages.
 */
export function jsonLength(text: string): number {
  const open: string[] = [];
  let at = 0;
  const next = (): string => {
    while (at < text.length && SPACES.includes(text.charAt(at))) at += 1;
    return text.charAt(at);
  };
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const takeMark = (mark: string | undefined): boolean => {
    const isThere = next() === mark;
    if (isThere) at += 1;
    return isThere;
  };
  const takeText = (): boolean => {
    if (!takeMark('"')) return false;
    do take(TEXT);
    while (take(ESCAPE));
    // Not `takeMark`: a line break cannot stand in a text.
    if (text.charAt(at) !== '"') return false;
    at += 1;
    return true;
  };
  const takeName = (): boolean => takeText() && takeMark(':');
  for (let isValueNext = true; ;) {
    const inside = open.at(-1);
    if (isValueNext) {
      const mark = next();
      const close = CLOSE[mark];
      if (close === undefined) {
        if (!(mark === '"' ? takeText() : take(SCALAR))) return at;
        isValueNext = false;
        continue;
      }
      at += 1;
      isValueNext = !takeMark(close);
      if (isValueNext) open.push(mark);
      if (isValueNext && mark === '{' && !takeName()) return at;
    } else if (inside === undefined) {
      next();
      return at;
    } else if (takeMark(',')) {
      if (inside === '{' && !takeName()) return at;
      isValueNext = true;
    } else if (takeMark(CLOSE[inside])) open.pop();
    else return at;
  }
}
