import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Key } from './scoped-table';
import { SettingRepository } from './setting.repository';
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

const SIGNATURE_BYTES = 16;
/** Host code asks with plain objects, which have no defaults of their own. */
export const DEFAULT_LIMIT = 50;
const NOT_A_CURSOR = {
  zh: '游标无效，或不属于此列表和筛选条件',
  en: 'is not a cursor for this list and these filters',
};

/**
 * Turns places in a list into texts that clients hand back. Each is signed, together with the tenant, the list and its
 * filters, by a key in the database: all processes on it accept each other's cursors, and no others.
 */
@Injectable()
export class Cursors {
  #key: KeyObject | undefined;

  constructor(private readonly settings: SettingRepository) {}

  /** Reads the part of a list that a request asks for. `list` names the list, with its filters. */
  async page<T>(
    list: readonly unknown[],
    { limit = DEFAULT_LIMIT, cursor }: PageRequest,
    read: (after: Key | null, limit: number) => Promise<Page<T>>,
  ): Promise<PageView<T>> {
    const after = cursor === undefined ? null : await this.open(list, cursor, 'cursor');
    const { rows, hasMore, last } = await read(after, limit);
    return { rows, nextCursor: hasMore && last ? await this.seal(list, last) : null, hasMore };
  }

  async seal(list: readonly unknown[], key: Key): Promise<string> {
    const text = Buffer.from(JSON.stringify(key)).toString('base64url');
    return `${text}.${await this.#sign(list, text)}`;
  }

  /** The place that a client hands back, in a parameter of this name. */
  async open(list: readonly unknown[], cursor: string, field: string): Promise<Key> {
    const [text = ''] = cursor.split('.');
    const sent = Buffer.from(cursor);
    const genuine = Buffer.from(`${text}.${await this.#sign(list, text)}`);
    if (sent.length !== genuine.length || !timingSafeEqual(sent, genuine)) {
      throw HttpErrors.INVALID({ fields: [{ field, message: NOT_A_CURSOR }] });
    }
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Key;
  }

  async #sign(list: readonly unknown[], text: string): Promise<string> {
    this.#key ??= createSecretKey(await this.settings.get('cursor-key'), 'hex');
    const hmac = createHmac('sha256', this.#key).update(JSON.stringify([list, text]));
    return hmac.digest().subarray(0, SIGNATURE_BYTES).toString('base64url');
  }
}

/** The filters of a list, in one order, whatever order they were sent in; the page's own part left out. */
export function filtersOf({ limit: _, cursor: __, ...filters }: PageRequest & object): unknown[] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
