/** As many ids as a database looks up by key one by one; longer lists it treats as a table. */
const CHUNK = 500;

/** A long list in lists of a moderate length. */
export function* chunksOf<K>(keys: readonly K[], size = CHUNK): Generator<K[]> {
  for (let start = 0; start < keys.length; start += size) yield keys.slice(start, start + size);
}

/** Asks for many ids in lists of a moderate length, one after the other, and gives all that was found. */
export async function inChunks<K, T>(
  keys: readonly K[],
  ask: (chunk: readonly K[]) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = [];
  // Not as arguments of one call, of which there must not be 100,000.
  for (const chunk of chunksOf(keys)) for (const each of await ask(chunk)) found.push(each);
  return found;
}
