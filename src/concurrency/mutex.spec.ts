import { setImmediate as turn } from 'node:timers/promises';
import { KeyedMutex } from './mutex';

describe('KeyedMutex', () => {
  it('KeyedMutex lets one in at a time per key, in the order of arrival, whatever becomes of it', async () => {
    const mutex = new KeyedMutex();
    const seen: string[] = [];
    const work = (key: string, n: number) =>
      mutex.runExclusive(key, async () => {
        seen.push(`${key}${n} in`);
        await turn();
        seen.push(`${key}${n} out`);
        if (n === 1) throw new Error('broken');
      });
    const results = await Promise.allSettled([work('a', 1), work('a', 2), work('b', 1), work('a', 3)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect(seen.filter((each) => each.startsWith('a'))).toEqual([
      'a1 in',
      'a1 out',
      'a2 in',
      'a2 out',
      'a3 in',
      'a3 out',
    ]);
    expect(seen.indexOf('b1 in')).toBeLessThan(seen.indexOf('a1 out'));
  });

  it('KeyedMutex lets go of who has waited too long, and lets in who comes after', async () => {
    const mutex = new KeyedMutex();
    const work = jest.fn(() => Promise.resolve('done'));
    let finish = (): void => undefined;
    const first = mutex.runExclusive('a', () => new Promise<void>((resolve) => (finish = resolve)));
    const late = mutex.runExclusive('a', work, { ms: 5, refusal: () => new Error('too late') });
    const last = mutex.runExclusive('a', work);
    await expect(late).rejects.toThrow('too late');
    finish();
    await first;
    expect(await last).toBe('done');
    expect(work).toHaveBeenCalledTimes(1);
  });
});
