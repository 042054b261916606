const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
/** From here on every zone is whole minutes away from UTC, and that changes at most once a day. */
const REGULAR_FROM = Date.UTC(1973, 0, 1);
const REGULAR_UNTIL = Date.UTC(9999, 0, 1);
const MOST_DAYS = 4000;

/** Turns stored UTC instants into the contract's `YYYY-MM-DD HH:MM:SS` of one time zone. */
export class ZonedTime {
  readonly #calendar: Intl.DateTimeFormat;
  /** How far the zone is from UTC on a day of UTC; null on a day on which that changes. */
  readonly #offsets = new Map<number, number | null>();
  /** Days as they are written. */
  readonly #days = new Map<number, string>();

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

  /** A list holds thousands of times: the calendar is asked once a day for them, as it costs fifty times the rest. */
  format(instant: Date): string {
    const time = instant.getTime();
    const regular = time >= REGULAR_FROM && time < REGULAR_UNTIL;
    const offset = regular ? remembered(this.#offsets, Math.floor(time / DAY_MS), this.#offsetOn) : null;
    if (offset === null) return this.#calendar.format(instant);
    const day = Math.floor((time + offset) / DAY_MS);
    const second = Math.floor((time + offset - day * DAY_MS) / SECOND_MS);
    return `${remembered(this.#days, day, writeDay)} ${writeSecond(second)}`;
  }

  /** The calendar day, `YYYY-MM-DD`. */
  day(instant: Date): string {
    return this.format(instant).slice(0, 10);
  }

  formatOrNull(instant: Date | null): string | null {
    return instant && this.format(instant);
  }

  readonly #offsetOn = (day: number): number | null => {
    const offset = this.#offsetAt(day * DAY_MS);
    return offset === this.#offsetAt((day + 1) * DAY_MS) ? offset : null;
  };

  #offsetAt(time: number): number {
    return Date.parse(`${this.#calendar.format(time).replace(' ', 'T')}Z`) - time;
  }
}

function writeDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function writeSecond(second: number): string {
  const minute = Math.floor(second / 60);
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}:${twoDigits(second % 60)}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}

/** What is known of a day, or is found out and kept; the number of days is bounded. */
function remembered<T>(known: Map<number, T>, day: number, find: (day: number) => T): T {
  const before = known.get(day);
  if (before !== undefined) return before;
  if (known.size >= MOST_DAYS) known.clear();
  const found = find(day);
  known.set(day, found);
  return found;
}
