/** How often something happened in the window that is running. */
export interface Count {
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly endsIn: number;
}

/** Counts in windows; a port, because replicas may count together. */
export abstract class RateCounter {
  abstract hit(key: string, windowMs: number): Count | Promise<Count>;
}

interface Window {
  hits: number;
  readonly endsAt: number;
}

/** Counts in this process. */
export class MemoryCounter extends RateCounter {
  readonly #windows = new Map<string, Window>();

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly most = 100_000,
  ) {
    super();
  }

  override hit(key: string, windowMs: number): Count {
    const now = this.now();
    let window = this.#windows.get(key);
    if (!window || window.endsAt <= now) {
      if (this.#windows.size >= this.most) this.#sweep(now);
      window = { hits: 0, endsAt: now + windowMs };
      this.#windows.set(key, window);
    }
    window.hits += 1;
    return { hits: window.hits, endsIn: window.endsAt - now };
  }

  #sweep(now: number): void {
    for (const [key, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(key);
    // Still full: the oldest go first, so that nobody makes the others forgotten at will.
    for (const key of this.#windows.keys()) {
      if (this.#windows.size < this.most) return;
      this.#windows.delete(key);
    }
  }
}
