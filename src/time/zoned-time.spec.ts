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
  'America/Santiago',
];
const STEP_MS = (5 * 60 + 13) * 60 * 1000 + 7123;

describe('ZonedTime', () => {
  it('ZonedTime writes an instant as the zone sees it', () => {
    const instant = new Date('2026-03-31T16:05:09.999Z');
    expect(new ZonedTime('Asia/Shanghai').format(instant)).toBe('2026-04-01 00:05:09');
    expect(new ZonedTime('UTC').format(instant)).toBe('2026-03-31 16:05:09');
  });

  it.each(ZONES)('ZonedTime writes what the calendar says, at any time of any day in %s', (timeZone) => {
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

  it('ZonedTime writes every minute around a change of the clocks', () => {
    const zoned = new ZonedTime('America/St_Johns');
    const minutes = ['03:30', '03:31'].map((time) => new Date(`2010-03-14T${time}:00Z`));
    expect(minutes.map((minute) => zoned.format(minute))).toEqual([
      '2010-03-14 00:00:00',
      '2010-03-14 01:01:00',
    ]);
  });

  it('ZonedTime reads a day, a second and ISO 8601 as the span of time that they name', () => {
    const zoned = new ZonedTime('Asia/Shanghai');
    const read = (text: string) => {
      const span = zoned.parse(text);
      return span && [span.from.toISOString(), span.until.toISOString()];
    };
    expect(read('2026-12-31')).toEqual(['2026-12-30T16:00:00.000Z', '2026-12-31T15:59:59.999Z']);
    expect(read('2026-12-31 23:59:59')).toEqual(['2026-12-31T15:59:59.000Z', '2026-12-31T15:59:59.999Z']);
    expect(read('2026-12-31T23:59:59+01:00')).toEqual([
      '2026-12-31T22:59:59.000Z',
      '2026-12-31T22:59:59.999Z',
    ]);
    expect(read('2026-12-31T23:59:59.5Z')).toEqual(['2026-12-31T23:59:59.500Z', '2026-12-31T23:59:59.500Z']);
    // The day on which clocks were put forward has 23 hours.
    expect(new ZonedTime('Europe/Berlin').parse('2026-03-29')).toEqual({
      from: new Date('2026-03-28T23:00:00.000Z'),
      until: new Date('2026-03-29T21:59:59.999Z'),
    });
  });

  it.each(ZONES)('ZonedTime reads back what it writes in %s', (timeZone) => {
    const zoned = new ZonedTime(timeZone);
    const wrong: string[] = [];
    for (let time = Date.UTC(2010, 0, 1); time < Date.UTC(2013, 0, 1); time += STEP_MS) {
      const text = zoned.format(new Date(time));
      const from = zoned.parse(text)?.from;
      if (!from || zoned.format(from) !== text) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it('ZonedTime reads a day whose midnight clocks skip from its first instant', () => {
    const zoned = new ZonedTime('America/Santiago');
    expect(zoned.parse('2026-09-05')?.until).toEqual(new Date('2026-09-06T03:59:59.999Z'));
    expect(zoned.parse('2026-09-06')?.from).toEqual(new Date('2026-09-06T04:00:00.000Z'));
  });

  it.each([
    ['America/New_York', '2026-03-08 01:59:59', '2026-03-08T06:59:59.000Z'],
    ['America/New_York', '2026-03-08 02:30:00', '2026-03-08T07:30:00.000Z'],
    ['America/New_York', '2026-03-08 03:00:00', '2026-03-08T07:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29 02:30:00', '2026-03-29T01:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25 01:59:59', '2026-10-24T23:59:59.000Z'],
  ])('ZonedTime reads one second of %s at %s', (timeZone, text, instant) => {
    const from = new Date(instant);
    expect(new ZonedTime(timeZone).parse(text)).toEqual({ from, until: new Date(from.getTime() + 999) });
  });

  it('ZonedTime reads nothing else', () => {
    const zoned = new ZonedTime('UTC');
    const wrong = ['', '2026', '2026-02-30', '2026-13-01', '2026-01-01 24:00:00', '2026-01-01 1:00:00'];
    const odd = [
      '2026-01-01T00:00',
      '20260101',
      'now',
      '2026-01-01Z',
      '2026-01-01 00:00:00 08:00',
      '２０２６-01-01',
    ];
    // In UTC these are in the years 0 and 10000, for which not every database has a date.
    const beyond = ['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'];
    for (const text of [...wrong, ...odd, ...beyond, '9999-12-31', '0000-01-01'])
      expect([text, zoned.parse(text)]).toEqual([text, null]);
  });

  it('ZonedTime keeps null', () => {
    expect(new ZonedTime('UTC').formatOrNull(null)).toBeNull();
  });
});
