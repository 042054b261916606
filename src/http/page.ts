import { Injectable, type PipeTransform } from '@nestjs/common';
import type { FieldProblem } from './error-catalogue';
import { HttpErrors } from './http.errors';
import { parseNumericId } from './ids';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** Which part of a list is asked for. */
export interface PageRequest {
  readonly limit: number;
  /** The last id of the page before; 0 for the first page. */
  readonly after: number;
}

/** One part of a list, in the order of ids. */
export interface Page<T> {
  readonly rows: T[];
  readonly hasMore: boolean;
  readonly last: number | null;
}

/** A page as it is answered. */
export interface PageView<T> {
  readonly rows: T[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

export function toPageView<T, V>({ rows, hasMore, last }: Page<T>, view: (row: T) => V): PageView<V> {
  return { rows: rows.map(view), nextCursor: hasMore && last !== null ? toCursor(last) : null, hasMore };
}

/** Reads `?limit=50&cursor=…`. */
@Injectable()
export class PagePipe implements PipeTransform<Record<string, unknown>, PageRequest> {
  transform({ limit = String(DEFAULT_LIMIT), cursor }: Record<string, unknown>): PageRequest {
    const size = parseNumericId(limit);
    if (size === null || size < 1 || size > MAX_LIMIT) {
      throw invalid('limit', { zh: `必须为 1 到 ${MAX_LIMIT} 的整数`, en: `must be from 1 to ${MAX_LIMIT}` });
    }
    return { limit: size, after: cursor === undefined ? 0 : fromCursor(cursor) };
  }
}

/** Opaque to clients: what it holds may change. */
function toCursor(id: number): string {
  return Buffer.from(`id:${id}`).toString('base64url');
}

function fromCursor(cursor: unknown): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const id = text.startsWith('id:') ? parseNumericId(text.slice(3)) : null;
  if (id === null || toCursor(id) !== cursor)
    throw invalid('cursor', { zh: '游标无效', en: 'is not a cursor' });
  return id;
}

function invalid(field: string, message: FieldProblem['message']): Error {
  return HttpErrors.INVALID({ fields: [{ field, message }] });
}
