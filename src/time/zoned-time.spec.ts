import { ZonedTime } from './zoned-time';

/** Half hours, changes a minute after midnight, a day that was skipped, offsets with seconds, none at all. */
const ZONES = [
  'UTC',
  'Asia/Shanghai',
  'Europe/Berlin',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Monrovia',
  'Africa/Casablanca',
];
const STEP_MS = (5 * 60 + 13) * 60 * 1000 + 7123;

describe('ZonedTime', () => {
  it('writes an instant as the zone sees it', () => {
    const instant = new Date('2026-03-31T16:05:09.999Z');
    expect(new ZonedTime('Asia/Shanghai').format(instant)).toBe('2026-04-01 00:05:09');
    expect(new ZonedTime('UTC').format(instant)).toBe('2026-03-31 16:05:09');
  });

  it.each(ZONES)('writes what the calendar says, at any time of any day in %s', (timeZone) => {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
    const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone, ...parts, ...clock });
    const zoned = new ZonedTime(timeZone);
    const wrong: string[] = [];
    for (const [from, until] of [
      [1971, 1975],
      [2010, 2013],
      [2026, 2028],
    ] as const) {
      for (let time = Date.UTC(from, 0, 1); time < Date.UTC(until, 0, 1); time += STEP_MS) {
        const instant = new Date(time);
        if (zoned.format(instant) !== calendar.format(instant)) wrong.push(instant.toISOString());
      }
    }
    expect(wrong).toEqual([]);
  });

  it('writes every minute around a change of the clocks', () => {
    const zoned = new ZonedTime('America/St_Johns');
    const minutes = ['03:30', '03:31'].map((time) => new Date(`2010-03-14T${time}:00Z`));
    expect(minutes.map((minute) => zoned.format(minute))).toEqual([
      '2010-03-14 00:00:00',
      '2010-03-14 01:01:00',
    ]);
  });

  it('keeps null', () => {
    expect(new ZonedTime('UTC').formatOrNull(null)).toBeNull();
  });
});
