import { LRUCache } from 'lru-cache';

/**
 * What was looked up in the last five seconds. Callers that come together share one look-up. It is stored when it begins:
 * its age counts from there, and one that began before `delete` or `clear` is not remembered after it.
 */
export class FactCache<T> extends LRUCache<string, Promise<T>> {
  constructor() {
    // lru-cache takes the last millisecond as fresh, and by default reads the clock at most once in a millisecond.
    super({ max: 10_000, ttl: 4999, ttlResolution: 0 });
  }

  lookUp(key: string, find: () => Promise<T>): Promise<T> {
    const known = this.get(key);
    if (known) return known;
    const found = find();
    this.set(key, found);
    found.catch(() => {
      if (this.peek(key) === found) this.delete(key);
    });
    return found;
  }
}
