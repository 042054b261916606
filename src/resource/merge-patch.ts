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
