import { LRUCache } from 'lru-cache';

/**
 * What was looked up in the last five seconds. Callers that come together share one look-up. It is stored when it begins:
 * its age counts from there, and one that began before `delete` or `clear` is not remembered after it. What is known of one key
 * may have several parts; they age and are forgotten together.
 */
export class FactCache<T> extends LRUCache<string, Map<string, Promise<T>>> {
  constructor() {
    // lru-cache takes the last millisecond as fresh, and by default reads the clock at most once in a millisecond.
    super({ max: 10_000, ttl: 4999, ttlResolution: 0 });
  }

  lookUp(key: string, find: () => Promise<T>, part = ''): Promise<T> {
    const parts = this.get(key) ?? new Map<string, Promise<T>>();
    const known = parts.get(part);
    if (known) return known;
    if (parts.size === 0) this.set(key, parts);
    const found = find();
    parts.set(part, found);
    found.catch(() => {
      if (parts.get(part) === found) parts.delete(part);
    });
    return found;
  }
}
