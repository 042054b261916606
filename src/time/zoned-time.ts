/** Turns stored UTC instants into the contract's `YYYY-MM-DD HH:MM:SS` of one time zone. */
export class ZonedTime {
  readonly #format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    // Sweden's way of writing a date and time is the contract's, and h23 never says 24:00.
    this.#format = new Intl.DateTimeFormat('sv-SE', {
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
    return this.#format.format(instant);
  }

  /** The calendar day, `YYYY-MM-DD`. */
  day(instant: Date): string {
    return this.format(instant).slice(0, 10);
  }

  formatOrNull(instant: Date | null): string | null {
    return instant && this.format(instant);
  }
}
