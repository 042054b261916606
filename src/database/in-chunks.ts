/** As many ids as a database looks up by key one by one; longer lists it treats as a table. */
const CHUNK = 500;

/** Asks for many ids in lists of a moderate length, one after the other, and gives all that was found, up to a limit. */
export async function inChunks<K, T>(
  keys: readonly K[],
  ask: (chunk: readonly K[], sofar: number) => Promise<T[]>,
  limit = Infinity,
): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < keys.length && found.length < limit; start += CHUNK) {
    const some = await ask(keys.slice(start, start + CHUNK), found.length);
    // Not as arguments of one call, of which there must not be 100,000.
    for (const each of some) found.push(each);
  }
  return found;
}
