import { FIRST_REVISION } from './audited';
import { HttpErrors, RevisionErrors } from '../errors/http.errors';

const revision = Symbol('revision');

/** The entity tags of which a row must have one to be changed; undefined is any. */
export type Expected = readonly string[] | undefined;

/** The strong entity tag of a revision. */
export function tagOf(value: number): string {
  return `"${value}"`;
}

/** That of what was just created. */
export const FIRST_TAG = tagOf(FIRST_REVISION);

/** Notes on a resource which revision of its row it shows; nothing that lists its fields sees the note. */
export function withRevision<T extends object>(resource: T, value: number): T {
  return Object.defineProperty(resource, revision, { value });
}

export function revisionOf(resource: unknown): number | undefined {
  return (resource as { readonly [revision]?: number } | null | undefined)?.[revision];
}

/** Refuses to change a row that has changed since the caller read it. */
export function refuseStale(row: { readonly revision: number }, expected: Expected): void {
  if (expected && !expected.includes(tagOf(row.revision))) throw RevisionErrors.STALE();
}

/** One tag cannot say how several rows must be. */
export function refuseOneTagForMany(ids: readonly unknown[], expected: Expected): void {
  if (!expected || ids.length <= 1) return;
  const message = {
    zh: '批量删除时不支持 If-Match',
    en: 'cannot be used when several ids are deleted at once',
  };
  throw HttpErrors.INVALID({ fields: [{ field: 'If-Match', message }] });
}
