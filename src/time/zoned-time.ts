const DAY_MS = 24 * 60 * 60 * 1000;
/** From here on every zone is whole minutes away from UTC, and that changes at most once a day. */
const REGULAR_FROM = Date.UTC(1973, 0, 1);
const REGULAR_UNTIL = Date.UTC(9999, 0, 1);
const MAX_DAYS = 4000;

/** Turns stored UTC instants into the contract's `YYYY-MM-DD HH:MM:SS` of one time zone. */
export class ZonedTime {
  readonly #calendar: Intl.DateTimeFormat;
  /** How far the zone is from UTC on a day of UTC; null on a day on which that changes. */
  readonly #offsets = new Map<number, number | null>();

  constructor(timeZone: string) {
    // Sweden's way of writing a date and time is the contract's, and h23 never says 24:00.
    this.#calendar = new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
  }

  format(instant: Date): string {
    const time = instant.getTime();
    const isRegular = time >= REGULAR_FROM && time < REGULAR_UNTIL;
    const offset = isRegular ? this.#offsetOn(Math.floor(time / DAY_MS)) : null;
    if (offset === null) return this.#calendar.format(instant);
    return new Date(time + offset).toISOString().slice(0, 19).replace('T', ' ');
  }

  day(instant: Date): string {
    return this.format(instant).slice(0, 10);
  }

  /**
   * The instant of `YYYY-MM-DD HH:MM:SS` or `YYYY-MM-DD` in this zone, or of a text of ISO 8601 with its own; null of any other text.
   * A day, or a second, is meant from its beginning, or with `isEnd` up to its last millisecond.
   */
  parse(text: string, isEnd = false): Date | null {
    const local = /^(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}:\d{2}))?$/.exec(text);
    if (!local)
      return /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text) ? valid(new Date(text)) : null;
    const clock = local[2] ?? (isEnd ? '23:59:59' : '00:00:00');
    const wanted = Date.parse(`${local[1]}T${clock}.${isEnd ? '999' : '000'}Z`);
    if (Number.isNaN(wanted)) return null;
    // The offset of a guess is right, or the guess is within a change of it and its own offset is.
    const guess = wanted - this.#offsetAt(wanted);
    return valid(new Date(wanted - this.#offsetAt(guess)));
  }

  formatOrNull(instant: Date | null): string | null {
    return instant && this.format(instant);
  }

  /** Remembered, because a list holds thousands of times and the calendar costs much more than the rest. */
  #offsetOn(day: number): number | null {
    const known = this.#offsets.get(day);
    if (known !== undefined) return known;
    const start = this.#offsetAt(day * DAY_MS);
    const offset = start === this.#offsetAt((day + 1) * DAY_MS) ? start : null;
    if (this.#offsets.size >= MAX_DAYS) this.#offsets.clear();
    this.#offsets.set(day, offset);
    return offset;
  }

  #offsetAt(time: number): number {
    const second = Math.floor(time / 1000) * 1000;
    return Date.parse(`${this.#calendar.format(second).replace(' ', 'T')}Z`) - second;
  }
}

function valid(instant: Date): Date | null {
  return Number.isNaN(instant.getTime()) ? null : instant;
}
