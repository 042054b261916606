/** How long the JSON may be that a repeated request is answered from, in bytes. */
const MOST_BYTES = 64 * 1024;

const RULE = 'The result of a transaction that takes effect once must be JSON';

/**
 * The result of a unit in the form in which it is stored; nothing is stored as null. A result that would not come back
 * as it is, or is too long, is a mistake of the code that made it: refused here, before COMMIT, on every database alike.
 */
export function toStored(result: unknown): string | null {
  if (result === undefined) return null;
  const json = JSON.stringify(result, refuseUnlikeJson);
  const bytes = Buffer.byteLength(json);
  if (bytes > MOST_BYTES) throw new Error(`${RULE} of at most ${MOST_BYTES} bytes; it has ${bytes} bytes.`);
  return json;
}

export function fromStored(stored: string | null): unknown {
  return stored === null ? undefined : JSON.parse(stored);
}

/** Sees each value before `JSON.stringify` writes it. It must look at the holder: `toJSON` has been called on the value. */
function refuseUnlikeJson(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const given = this[key];
  const isLeftOut = given === undefined && !Array.isArray(this);
  if (!isLeftOut && (given !== value || !isJson(given)))
    throw new Error(`${RULE}; '${key}' is ${Object.prototype.toString.call(given)}.`);
  return value;
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  // A Map or an Error would become an empty object; an object of a class of somebody's own keeps its fields.
  return ['[object Object]', '[object Array]'].includes(Object.prototype.toString.call(value));
}
