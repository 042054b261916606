const DAY_MS = 24 * 60 * 60 * 1000;
/** From here on every zone is whole minutes away from UTC, and that changes at most once a day. */
const REGULAR_FROM = Date.UTC(1973, 0, 1);
const REGULAR_UNTIL = Date.UTC(9999, 0, 1);
const MAX_DAYS = 4000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
/** In UTC: not every database has dates before or after these years. */
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** A day, or a time of a day with a fraction and an offset from UTC where they are told. */
export const TIME_PATTERN =
  '([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])([.][0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})?)?';
const TIME = new RegExp(`^${TIME_PATTERN}$`);

/** What people mean by a time: all instants of a day, or of a second. */
export interface TimeSpan {
  readonly from: Date;
  /** The last millisecond of it. */
  readonly until: Date;
}

/** Turns stored UTC instants into the contract's `YYYY-MM-DD HH:MM:SS` of one time zone. */
export class ZonedTime {
  readonly #calendar: Intl.DateTimeFormat;
  /** How far the zone is from UTC on a day of UTC; null on a day on which that changes. */
  readonly #offsets = new Map<number, number | null>();
  /** Days of the zone, by their number since 1970. */
  readonly #days = new Map<number, string>();

  constructor(readonly timeZone: string) {
    // Sweden's way of writing a date and time is the contract's.
    this.#calendar = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  }

  format(instant: Date): string {
    const time = instant.getTime();
    const offset = this.#regularOffset(time);
    if (offset === null) return this.#calendar.format(instant);
    const wall = time + offset;
    const day = Math.floor(wall / DAY_MS);
    const seconds = Math.floor((wall - day * DAY_MS) / 1000);
    const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return `${this.#dayText(day)} ${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[second]}`;
  }

  day(instant: Date): string {
    return this.format(instant).slice(0, 10);
  }

  /** Reads `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS` or ISO 8601, in the zone unless it tells an offset; null for anything else. */
  parse(text: string): TimeSpan | null {
    const [, day = '', clock, fraction, offset] = TIME.exec(text) ?? [];
    const wall = Date.parse(`${day}T${clock ?? '00:00:00'}${fraction ?? ''}Z`);
    // JavaScript takes the 30th of February for the 2nd of March.
    if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(day)) return null;
    const length = clock === undefined ? DAY_MS : fraction === undefined ? 1000 : 1;
    const instantOf = (time: number): number =>
      offset === undefined ? this.#instantOf(time) : time - offsetIn(offset);
    const from = instantOf(wall);
    // A second is one also where clocks are put back after it; a day ends where the next one begins.
    const until = (clock === undefined ? instantOf(wall + length) : from + length) - 1;
    return from >= FIRST && until <= LAST ? { from: new Date(from), until: new Date(until) } : null;
  }

  formatOrNull(instant: Date | null): string | null {
    return instant && this.format(instant);
  }

  /** Remembered, as offsets are: `toISOString` costs six times as much as all of `format`. */
  #dayText(day: number): string {
    return remembered(this.#days, day, () => new Date(day * DAY_MS).toISOString().slice(0, 10));
  }

  /** How far the zone is from UTC at this time; null where only the calendar knows. */
  #regularOffset(time: number): number | null {
    const isRegular = time >= REGULAR_FROM && time < REGULAR_UNTIL;
    return isRegular ? this.#offsetOn(Math.floor(time / DAY_MS)) : null;
  }

  /** Remembered, because a list holds thousands of times and the calendar costs much more than the rest. */
  #offsetOn(day: number): number | null {
    return remembered(this.#offsets, day, () => {
      const start = this.#offsetAt(day * DAY_MS);
      return start === this.#offsetAt((day + 1) * DAY_MS) ? start : null;
    });
  }

  /**
   * When clocks of the zone show this; `wall` is what they show, as if it were UTC. What they skip when they are put forward is
   * that much later, so a day whose midnight they skip begins right after it.
   */
  #instantOf(wall: number): number {
    const offsetAt = (time: number): number => this.#regularOffset(time) ?? this.#offsetAt(time);
    const near = wall - offsetAt(wall);
    // Beyond the year 9999 there is no such text to read.
    if (Number.isNaN(near)) return near;
    const found = wall - offsetAt(near);
    return offsetAt(found) === wall - found ? found : Math.max(near, found);
  }

  #offsetAt(time: number): number {
    return Date.parse(`${this.#calendar.format(time).replace(' ', 'T')}Z`) - time;
  }
}

/** What is known of a day, or what is found out now. */
function remembered<T extends string | number | null>(
  days: Map<number, T>,
  day: number,
  findOut: () => T,
): T {
  const known = days.get(day);
  if (known !== undefined) return known;
  if (days.size >= MAX_DAYS) days.clear();
  const found = findOut();
  days.set(day, found);
  return found;
}

/** Milliseconds of `Z` or `+08:00`. */
function offsetIn(text: string): number {
  const [hours = 0, minutes = 0] = text.slice(1).split(':').map(Number);
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
