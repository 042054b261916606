import type { Key } from '../database/key-range';

/** One part of a list, in its order. */
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
