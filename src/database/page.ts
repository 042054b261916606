import { hash } from 'node:crypto';
import type { Key } from './scoped-table';
import { HttpErrors } from '../errors/http.errors';

/** Which part of a list is asked for. */
export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
}

/** One part of a list, in its order (keyset pagination). */
export interface Page<T> {
  readonly rows: T[];
  readonly hasMore: boolean;
  /** Where the next part begins; null when there is none. */
  readonly last: Key | null;
}

/** A page as it is answered. It may hold fewer rows than asked for, even none, and still have more after it. */
export interface PageView<T> {
  readonly rows: T[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

/** Gives so many places of a list after one of them, in order; fewer only at the list's end. */
export type KeySource = (after: Key | null, limit: number) => Promise<Key[]>;

/** The rows of a list. */
export interface RowSource<T> {
  /** Those at these places that pass the filters, in any order. */
  at(keys: readonly Key[]): Promise<T[]>;
  /** What the last value of a row's key is. */
  idOf(row: T): string | number;
}

/** A page of rows that were asked for with a limit of one more. */
export function cutPage<T>(rows: T[], limit: number, keyOf: (row: T) => Key): Page<T> {
  const hasMore = rows.length > limit;
  if (hasMore) rows.length = limit;
  const last = rows.at(-1);
  return { rows, hasMore, last: hasMore && last !== undefined ? keyOf(last) : null };
}

/** The first rows of pages that come one after the other; no page is read beyond them. */
export async function firstOf<T>(pages: AsyncIterable<readonly T[]>, limit: number): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) {
    for (const row of page) if (found.length < limit) found.push(row);
    if (found.length >= limit) break;
  }
  return found;
}

/** The first so many of rows that come in any order. It holds hardly more than those. */
export class FirstRows<T> {
  #rows: T[] = [];

  constructor(
    private readonly limit: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  add(row: T): void {
    this.#rows.push(row);
    if (this.#rows.length > 2 * this.limit + 100) this.#rows = this.all();
  }

  /** In order. */
  all(): T[] {
    return this.#rows.sort(this.compare).slice(0, this.limit);
  }
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
): Promise<Page<T>> {
  const found: { readonly key: Key; readonly row: T }[] = [];
  const page = (last: Key | null): Page<T> => ({
    rows: found.slice(0, limit).map(({ row }) => row),
    hasMore: last !== null,
    last,
  });
  let after = start;
  let window = Math.min(limit + 1, WINDOW);
  for (let examined = 0; examined < MOST_EXAMINED; window = Math.min(window * 4, WINDOW)) {
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

const DIGEST_LENGTH = 16;
/** Host code asks with plain objects, which have no defaults of their own. */
export const DEFAULT_LIMIT = 50;
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const NOT_A_CURSOR = {
  zh: '游标无效，或不属于此列表和筛选条件',
  en: 'is not a cursor for this list and these filters',
};

/**
 * What a part of a key may be: an integer of 32 bits, a longer one that is not negative, a text of digits, milliseconds since 1970, or a
 * UUID.
 */
const KEY_PARTS = {
  int: (part: unknown) => Number.isInteger(part) && Math.abs(part as number) < 2 ** 31,
  long: (part: unknown) => Number.isSafeInteger(part) && (part as number) >= 0,
  digits: (part: unknown) => typeof part === 'string' && /^[0-9]{1,19}$/.test(part),
  time: (part: unknown) => Number.isInteger(part) && (part as number) >= 0 && (part as number) <= LAST_MS,
  uuid: (part: unknown) => typeof part === 'string' && /^[0-9a-f-]{36}$/.test(part),
};

/**
 * A list that is read page by page. Its cursors are places in it, as texts that clients hand back, with a digest of the place and of
 * what is listed: the tenant and the filters. That refuses a damaged cursor, and one of another list, filter or tenant. Who computes
 * the digest of a made-up place reads from there, and nothing else: the tenant and the filters are those of the request.
 */
export class PagedList {
  constructor(
    private readonly name: string,
    private readonly parts: readonly (keyof typeof KEY_PARTS)[],
  ) {}

  /** Reads the part of the list that a request asks for. */
  async page<T>(
    listed: readonly unknown[],
    { limit = DEFAULT_LIMIT, cursor }: PageRequest,
    read: (after: Key | null, limit: number) => Promise<Page<T>>,
  ): Promise<PageView<T>> {
    const after = cursor === undefined ? null : this.open(listed, cursor, 'cursor');
    const { rows, hasMore, last } = await read(after, limit);
    return { rows, nextCursor: hasMore && last ? this.seal(listed, last) : null, hasMore };
  }

  seal(listed: readonly unknown[], key: Key): string {
    const text = Buffer.from(JSON.stringify(key)).toString('base64url');
    const digest = hash('sha256', JSON.stringify([this.name, listed, text]), 'base64url');
    return `${text}.${digest.slice(0, DIGEST_LENGTH)}`;
  }

  /** The place that a client hands back, in a parameter of this name. */
  open(listed: readonly unknown[], cursor: string, field: string): Key {
    const key = keyIn(cursor);
    const isKey =
      key?.length === this.parts.length && this.parts.every((part, at) => KEY_PARTS[part](key[at]));
    if (isKey && this.seal(listed, key) === cursor) return key;
    throw HttpErrors.INVALID({ fields: [{ field, message: NOT_A_CURSOR }] });
  }
}

function keyIn(cursor: string): Key | null {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor.split('.', 1)[0] ?? '', 'base64url').toString());
    return Array.isArray(key) ? (key as Key) : null;
  } catch {
    return null;
  }
}

/** The filters of a list, in one order, whatever order they were sent in; the page's own part left out. */
export function filtersOf({ limit: _, cursor: __, ...filters }: PageRequest & object): unknown[] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
