import { ZonedTime } from './zoned-time';

describe('ZonedTime', () => {
  it('writes an instant as the zone sees it', () => {
    const instant = new Date('2026-03-31T16:05:09.999Z');
    expect(new ZonedTime('Asia/Shanghai').format(instant)).toBe('2026-04-01 00:05:09');
    expect(new ZonedTime('UTC').format(instant)).toBe('2026-03-31 16:05:09');
  });

  it('keeps null', () => {
    expect(new ZonedTime('UTC').formatOrNull(null)).toBeNull();
  });
});
