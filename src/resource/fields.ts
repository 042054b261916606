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

type Patch = Readonly<Record<string, unknown>>;

/**
 * JSON merge patch (RFC 7396) of one object: what the patch names is replaced, what it sets to null is taken out, objects
 * are merged member by member. Pure.
 */
export function mergePatch(target: object, patch: object): Record<string, unknown> {
  const merged = new Map(Object.entries(target as Patch));
  for (const [name, value] of Object.entries(patch as Patch)) {
    if (value === undefined) continue;
    const before = merged.get(name);
    if (value === null) merged.delete(name);
    else merged.set(name, isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
