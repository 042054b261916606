import type { Key } from '../database/key-range';
import type { Page } from './page';

/** Gives so many places of a list after one of them, in order; fewer only at the list's end. */
export type KeySource = (after: Key | null, limit: number) => Promise<Key[]>;

/** The rows of a list. */
export interface RowSource<T> {
  /** Those at these places that pass the filters, in any order. */
  at(keys: readonly Key[]): Promise<T[]>;
  /** What the last value of a row's key is. */
  idOf(row: T): string | number;
}

/** Databases treat longer lists of ids as tables of their own, and stop using the key. */
const WINDOW = 900;
/** A page that is still not full after so many places is answered as it is, and the next one goes on from there. */
const MOST_EXAMINED = 25_000;

/**
 * Fills one page: looks at the places of an order in windows that grow, and takes the rows that pass the filters. What
 * a page costs is bounded, however few rows pass.
 */
export async function fillPage<T>(
  keysAfter: KeySource,
  rows: RowSource<T>,
  start: Key | null,
  limit: number,
  most = MOST_EXAMINED,
): Promise<Page<T>> {
  const found: { readonly key: Key; readonly row: T }[] = [];
  const page = (last: Key | null): Page<T> => ({
    rows: found.slice(0, limit).map(({ row }) => row),
    hasMore: last !== null,
    last,
  });
  let after = start;
  let window = Math.min(limit + 1, WINDOW);
  for (let examined = 0; examined < most; window = Math.min(window * 4, WINDOW)) {
    const keys = await keysAfter(after, window);
    const passed = new Map((keys.length > 0 ? await rows.at(keys) : []).map((row) => [rows.idOf(row), row]));
    for (const key of keys) {
      const row = passed.get(key.at(-1) ?? '');
      if (row !== undefined) found.push({ key, row });
    }
    if (found.length > limit) return page(found[limit - 1]?.key ?? null);
    if (keys.length < window) return page(null);
    after = keys.at(-1) ?? null;
    examined += keys.length;
  }
  return page(after);
}

/** A list of places that is known as a whole, as a source. */
export function knownKeys(keys: readonly Key[]): KeySource {
  const sorted = keys.toSorted(compareKeys);
  return (after, limit) => {
    const from = after ? sorted.findIndex((key) => compareKeys(key, after) > 0) : 0;
    return Promise.resolve(from < 0 ? [] : sorted.slice(from, from + limit));
  };
}

function compareKeys(a: Key, b: Key): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? value;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
