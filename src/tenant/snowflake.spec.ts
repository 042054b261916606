import { SnowflakeMint } from './snowflake';

const START = Date.UTC(2026, 0, 1);

describe('SnowflakeMint', () => {
  it('never repeats, while the clock stands still, jumps and steps back', () => {
    const mint = new SnowflakeMint({ worker: 7, from: START, until: START + 60_000 });
    const clock = (n: number) => START + (n < 20_000 ? 0 : n < 30_000 ? 30_000 : -3_600_000);
    const ids = Array.from({ length: 50_000 }, (_, n) => mint.next(clock(n))!);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.find((id, n) => n > 0 && BigInt(id) <= BigInt(ids[n - 1]!))).toBeUndefined();
    expect(ids.find((id) => !/^\d{17,19}$/.test(id))).toBeUndefined();
  });

  it('stays inside its block, at both ends', () => {
    const mint = new SnowflakeMint({ worker: 0, from: START, until: START + 1 });
    const ids = Array.from({ length: 2 * 4096 + 1 }, () => mint.next(START - 5));
    expect(ids.filter((id) => id === null)).toHaveLength(1);
    expect(mint.next(START + 2)).toBeNull();
  });

  it('differs by worker', () => {
    const first = (worker: number) => new SnowflakeMint({ worker, from: START, until: START }).next(START);
    expect(first(0)).not.toBe(first(1));
    expect(first(1023)).not.toBe(first(0));
  });
});
