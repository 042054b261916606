import { freeTenantCode, nextSnowflake, snowflakeAt } from './tenant-ids';

const START = Date.UTC(2026, 0, 1);

describe('snowflake ids', () => {
  it('snowflake ids grow, while the clock stands still, jumps and steps back', () => {
    const clock = (n: number) => START + (n < 2000 ? 0 : n < 3000 ? 30_000 : -3_600_000);
    const ids: bigint[] = [];
    for (let n = 0; n < 5000; n += 1) ids.push(nextSnowflake(clock(n), ids.at(-1) ?? 0n));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    for (const id of ids) expect(String(id)).toMatch(/^\d{17,19}$/);
  });

  it('snowflake ids are positive when the clock was never set', () => {
    expect(snowflakeAt(0)).toBeGreaterThan(0n);
  });
});

describe('tenant codes', () => {
  it('tenant codes have six digits', async () => {
    expect(await freeTenantCode(() => Promise.resolve([]))).toMatch(/^[1-9]\d{5}$/);
  });

  it('tenant codes are never ones that were taken', async () => {
    const seen: string[] = [];
    const code = await freeTenantCode((codes) => {
      seen.push(...codes.slice(0, -1));
      return Promise.resolve(codes.slice(0, -1));
    });
    expect(seen).not.toContain(code);
  });

  it('tenant codes get a seventh digit when six are used up', async () => {
    const code = await freeTenantCode((codes) => Promise.resolve(codes.filter(({ length }) => length === 6)));
    expect(code).toMatch(/^[1-9]\d{6}$/);
  });
});
