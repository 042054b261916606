import { ExpiringCache } from './expiring-cache';

describe('ExpiringCache', () => {
  let now = 0;
  let looks = 0;
  const look = () => Promise.resolve((looks += 1));
  const memory = () => new ExpiringCache<number>(5000, 3, () => now);

  beforeEach(() => {
    now = 0;
    looks = 0;
  });

  it('looks once for callers that come together, and again when it is no longer fresh', async () => {
    const short = memory();
    expect(await Promise.all([short.get('a', look), short.get('a', look)])).toEqual([1, 1]);
    now = 4999;
    expect(await short.get('a', look)).toBe(1);
    now = 5000;
    expect(await short.get('a', look)).toBe(2);
  });

  it('does not remember what began before it was told to forget', async () => {
    const short = memory();
    let answer: (value: number) => void = () => undefined;
    const slow = short.get('a', () => new Promise((resolve) => (answer = resolve)));
    short.forget('a');
    answer(0);
    expect(await slow).toBe(0);
    expect(await short.get('a', look)).toBe(1);
  });

  it('forgets what failed, what is told by its beginning, and everything rather than grow', async () => {
    const short = memory();
    await expect(short.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await short.get('a', look)).toBe(1);
    await short.get('b|1', look);
    await short.get('b|2', look);
    short.forgetIf((key) => key.startsWith('b|'));
    expect(await short.get('a', look)).toBe(1);
    expect(await short.get('b|1', look)).toBe(4);
    for (const key of ['c', 'd', 'e']) await short.get(key, look);
    expect(await short.get('a', look)).toBe(8);
  });
});
