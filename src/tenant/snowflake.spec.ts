import { nextSnowflake, snowflakeAt } from './snowflake';

const START = Date.UTC(2026, 0, 1);

describe('snowflake ids', () => {
  it('grow, while the clock stands still, jumps and steps back', () => {
    const clock = (n: number) => START + (n < 2000 ? 0 : n < 3000 ? 30_000 : -3_600_000);
    const ids: bigint[] = [];
    for (let n = 0; n < 5000; n += 1) ids.push(nextSnowflake(clock(n), ids.at(-1) ?? 0n));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    for (const id of ids) expect(String(id)).toMatch(/^\d{17,19}$/);
  });

  it('are positive when the clock was never set', () => {
    expect(snowflakeAt(0)).toBeGreaterThan(0n);
  });
});
