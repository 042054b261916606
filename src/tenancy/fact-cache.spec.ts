import { FactCache } from './fact-cache';

describe('FactCache', () => {
  let now = 1000;
  let looks = 0;
  let facts: FactCache<number>;
  const look = () => Promise.resolve((looks += 1));

  beforeEach(() => {
    now = 1000;
    looks = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    facts = new FactCache();
  });
  afterEach(() => jest.restoreAllMocks());

  it('FactCache looks once for callers that come together, and again after five seconds', async () => {
    expect(await Promise.all([facts.lookUp('a', look), facts.lookUp('a', look)])).toEqual([1, 1]);
    now += 4999;
    expect(await facts.lookUp('a', look)).toBe(1);
    now += 1;
    expect(await facts.lookUp('a', look)).toBe(2);
  });

  it('FactCache does not remember what began before it was told to forget', async () => {
    let answer: (value: number) => void = () => undefined;
    const slow = facts.lookUp('a', () => new Promise((resolve) => (answer = resolve)));
    expect([...facts.keys()]).toEqual(['a']);
    facts.delete('a');
    answer(0);
    expect(await slow).toBe(0);
    expect(await facts.lookUp('a', look)).toBe(1);
  });

  it('FactCache counts the age of an answer from the beginning of its look-up', async () => {
    await facts.lookUp('a', async () => {
      await Promise.resolve();
      now += 3000;
      return look();
    });
    now += 2000;
    expect(await facts.lookUp('a', look)).toBe(2);
  });

  it('FactCache forgets what failed, and only that', async () => {
    let fail: (error: Error) => void = () => undefined;
    const failing = facts.lookUp('a', () => new Promise((_, reject) => (fail = reject)));
    facts.delete('a');
    expect(await facts.lookUp('a', look)).toBe(1);
    fail(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    expect(await facts.lookUp('a', look)).toBe(1);
    await expect(facts.lookUp('b', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await facts.lookUp('b', look)).toBe(2);
  });

  it('FactCache forgets all parts of a key together, and by the age of the first', async () => {
    expect(await facts.lookUp('a', look, 'one')).toBe(1);
    now += 3000;
    expect(await facts.lookUp('a', look, 'other')).toBe(2);
    expect(await facts.lookUp('a', look, 'one')).toBe(1);
    now += 2000;
    expect(await facts.lookUp('a', look, 'other')).toBe(3);
    facts.delete('a');
    expect(await facts.lookUp('a', look, 'other')).toBe(4);
  });
});
