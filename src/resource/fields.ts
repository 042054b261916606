import type { ZonedTime } from '../time/zoned-time';

/**
 * The fields of a resource that a client decides. `Names` are those that it may send: one that is no column, or that no view
 * shows, does not compile.
 */
export type ClientFields<Entity, View, Names extends keyof Entity & keyof View> = Pick<Entity, Names>;

export function namesOf<F extends object>(fields: F): (keyof F & string)[] {
  return Object.keys(fields) as (keyof F & string)[];
}

/** Not a spread, which costs thirty times as much on Node 20. */
export function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const name of names) picked[name] = from[name];
  return picked as Pick<T, K>;
}

/** What was sent; what was not sent, or is null, gets its default. */
export function withDefaults<F extends object>(sent: { readonly [K in keyof F]?: unknown }, defaults: F): F {
  const fields = Object.assign({}, defaults);
  for (const name of namesOf(defaults)) fields[name] = (sent[name] ?? defaults[name]) as F[typeof name];
  return fields;
}

/** Columns as callers see them. */
export type Viewed<E> = {
  [K in keyof E]: E[K] extends Date ? string : E[K] extends Date | null ? string | null : E[K];
};

/** The only place where columns become fields: times are texts in the service's time zone. */
export function viewOf<T extends object, K extends keyof T>(
  row: T,
  columns: readonly K[],
  time: ZonedTime,
): Viewed<Pick<T, K>> {
  const view: Partial<Record<K, unknown>> = {};
  for (const column of columns) {
    const value: unknown = row[column];
    view[column] = value instanceof Date ? time.format(value) : value;
  }
  return view as Viewed<Pick<T, K>>;
}
