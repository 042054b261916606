interface Reservation {
  readonly amount: number;
  readonly until: number;
  state: 'active' | 'over';
}

interface Entry {
  readonly operation: 'use' | 'commit' | 'refund';
  readonly amount: number;
  readonly ofKey?: string;
}

const OK = 200;

/** What a quota should do, as plainly as it can be said: each method gives `200` or the reason of a refusal. */
export class QuotaModel {
  #now = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #reservations = new Map<string, Reservation>();

  constructor(public total: number) {}

  get used(): number {
    return [...this.#entries.values()].reduce((sum, { amount }) => sum + amount, 0);
  }

  get reserved(): number {
    const active = [...this.#reservations.values()].filter(({ state }) => state === 'active');
    return active.reduce((sum, { amount }) => sum + amount, 0);
  }

  get available(): number | null {
    return this.total < 0 ? null : Math.max(0, this.total - this.used - this.reserved);
  }

  get numbers(): (number | null)[] {
    return [this.total, this.used, this.reserved, this.available];
  }

  get amounts(): number[] {
    return [...this.#entries.values()].map(({ amount }) => amount);
  }

  pass(seconds: number): void {
    this.#now += seconds;
    for (const each of this.#reservations.values()) if (each.until <= this.#now) each.state = 'over';
  }

  use(key: string, amount: number): number | string {
    const before = this.#entries.get(key);
    if (before) return before.operation === 'use' && before.amount === amount ? OK : 'QUOTA_KEY_REUSED';
    if (this.#reservations.has(key)) return 'QUOTA_KEY_REUSED';
    if (!this.#has(amount)) return 'QUOTA_EXCEEDED';
    this.#entries.set(key, { operation: 'use', amount });
    return OK;
  }

  reserve(key: string, amount: number, seconds: number): number | string {
    const before = this.#reservations.get(key);
    if (before ? before.amount !== amount : this.#entries.has(key)) return 'QUOTA_KEY_REUSED';
    if (before) return before.state === 'active' ? OK : 'RESERVATION_OVER';
    if (!this.#has(amount)) return 'QUOTA_EXCEEDED';
    this.#reservations.set(key, { amount, until: this.#now + seconds, state: 'active' });
    return OK;
  }

  commit(key: string, amount?: number): number | string {
    const reservation = this.#reservations.get(key);
    if (!reservation) return 'RESERVATION_NOT_FOUND';
    if (reservation.state === 'over') return 'RESERVATION_OVER';
    if (amount !== undefined && amount > reservation.amount) return 'INVALID_INPUT';
    reservation.state = 'over';
    this.#entries.set(key, { operation: 'commit', amount: amount ?? reservation.amount });
    return OK;
  }

  release(key: string): number | string {
    const reservation = this.#reservations.get(key);
    if (!reservation) return 'RESERVATION_NOT_FOUND';
    if (reservation.state === 'over') return 'RESERVATION_OVER';
    reservation.state = 'over';
    return OK;
  }

  refund(ofKey: string, key: string, amount?: number): number | string {
    const before = this.#entries.get(key);
    if (before) {
      const isSame = before.ofKey === ofKey && (amount === undefined || before.amount === -amount);
      return isSame ? OK : 'QUOTA_KEY_REUSED';
    }
    if (this.#reservations.has(key)) return 'QUOTA_KEY_REUSED';
    const refunds = [...this.#entries.values()].filter((each) => each.ofKey === ofKey);
    const spent = refunds.reduce((sum, each) => sum + each.amount, this.#entries.get(ofKey)?.amount ?? 0);
    if (!this.#entries.has(ofKey)) return 'QUOTA_KEY_NOT_FOUND';
    if (spent <= 0 || (amount ?? 0) > spent) return 'REFUND_TOO_LARGE';
    this.#entries.set(key, { operation: 'refund', amount: -(amount ?? spent), ofKey });
    return OK;
  }

  #has(amount: number): boolean {
    return this.total < 0 || amount <= this.total - this.used - this.reserved;
  }
}
