interface Remembered<T> {
  /** The promise of a look-up that is still going on, then what it gave. */
  value: T | Promise<T>;
  readonly until: number;
}

/**
 * Remembers what was looked up, for a short time. Callers that come together share one look-up, one that failed
 * is forgotten, and one that began before `forget` is not remembered after it.
 */
export class ExpiringCache<T> {
  readonly #remembered = new Map<string, Remembered<T>>();

  constructor(
    private readonly freshMs: number,
    private readonly most = 10_000,
    /** Not the time of day: that one may step back, and what is remembered would stay. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** At once, when it is known. */
  get(key: string, look: () => Promise<T>): T | Promise<T> {
    const known = this.#remembered.get(key);
    if (known && known.until > this.now()) return known.value;
    const value = look();
    if (this.#remembered.size >= this.most) this.#remembered.clear();
    const remembered: Remembered<T> = { value, until: this.now() + this.freshMs };
    this.#remembered.set(key, remembered);
    value.then(
      (found) => {
        remembered.value = found;
      },
      () => {
        if (this.#remembered.get(key) === remembered) this.#remembered.delete(key);
      },
    );
    return value;
  }

  forget(key: string): void {
    this.#remembered.delete(key);
  }

  forgetIf(isMeant: (key: string) => boolean): void {
    for (const key of this.#remembered.keys()) if (isMeant(key)) this.#remembered.delete(key);
  }
}
