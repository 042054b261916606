import fc from 'fast-check';
import { FairQueue, type Leave } from './fair-queue';

/** A queue whose log tells what was started and refused, by name. */
function queueOf(inWork: number, waiting: number, waitMs = 1000) {
  const queue = new FairQueue({ inWork, waiting, waitMs });
  const log: string[] = [];
  const leaves = new Map<string, Leave>();
  const enter = (name: string): void => {
    const [key = ''] = name.split('-');
    const start = () => log.push(name);
    leaves.set(
      name,
      queue.enter(key, start, () => log.push(`no ${name}`)),
    );
  };
  const leave = (name: string): void => leaves.get(name)?.();
  return { queue, log, enter, leave };
}

describe('FairQueue', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('FairQueue starts what it has places for, lets some wait, and refuses the rest', () => {
    const { queue, log, enter, leave } = queueOf(2, 1);
    for (const name of ['a-1', 'b-1', 'c-1', 'd-1']) enter(name);
    expect(log).toEqual(['a-1', 'b-1', 'no d-1']);
    expect(queue.counts).toEqual({ inWork: 2, waiting: 1, refused: 1 });
    leave('a-1');
    leave('a-1');
    expect(log.at(-1)).toBe('c-1');
    expect(queue.counts).toEqual({ inWork: 2, waiting: 0, refused: 1 });
  });

  it('FairQueue serves those that wait round robin by key, and in their order within a key', () => {
    const { log, enter, leave } = queueOf(1, 10);
    for (const name of ['x-1', 'a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'c-1']) enter(name);
    for (let n = 0; n < 7; n += 1) leave(log.at(-1)!);
    expect(log).toEqual(['x-1', 'a-1', 'b-1', 'c-1', 'a-2', 'b-2', 'a-3']);
  });

  it('FairQueue leaves places for others, however much one key asks for', () => {
    const { log, enter } = queueOf(8, 20);
    for (let n = 1; n <= 10; n += 1) enter(`loud-${n}`);
    enter('quiet-1');
    enter('quiet-2');
    expect(log.filter((name) => name.startsWith('loud'))).toHaveLength(6);
    expect(log).toContain('quiet-1');
    expect(log).toContain('quiet-2');
  });

  it('FairQueue gives a newcomer the place of the last in the longest line when the queue is full', () => {
    const { log, enter } = queueOf(1, 3);
    for (const name of ['x-1', 'a-1', 'a-2', 'a-3', 'b-1', 'a-4']) enter(name);
    expect(log).toEqual(['x-1', 'no a-3', 'no a-4']);
  });

  it('FairQueue lets only so many of one key wait', () => {
    const queue = new FairQueue({ inWork: 0, waiting: 5, line: 2 });
    const refused: string[] = [];
    for (const name of ['a-1', 'a-2', 'a-3', 'b-1'])
      queue.enter(
        name.slice(0, 1),
        () => undefined,
        () => refused.push(name),
      );
    expect([refused, queue.counts.waiting]).toEqual([['a-3'], 3]);
  });

  it('FairQueue refuses what has waited too long', () => {
    const { queue, log, enter, leave } = queueOf(1, 3, 500);
    enter('a-1');
    enter('b-1');
    jest.advanceTimersByTime(499);
    enter('c-1');
    expect(log).toEqual(['a-1']);
    jest.advanceTimersByTime(1);
    expect(log).toEqual(['a-1', 'no b-1']);
    leave('a-1');
    expect(log.at(-1)).toBe('c-1');
    expect(queue.counts).toMatchObject({ inWork: 1, waiting: 0 });
  });

  it('FairQueue starts only so many of those that wait in one turn of the event loop, and newcomers with them', () => {
    const queue = new FairQueue({ inWork: 4, waiting: 20, share: 1, startsPerTurn: 2 });
    const log: string[] = [];
    const enter = (name: string) =>
      queue.enter(
        name.slice(0, 1),
        () => log.push(name),
        () => undefined,
      );
    const leaves = ['a-1', 'a-2', 'a-3', 'a-4'].map(enter);
    for (const name of ['a-5', 'a-6', 'a-7', 'a-8']) enter(name);
    for (const leave of leaves) leave();
    enter('b-1');
    expect([log.length, queue.counts]).toEqual([4, { inWork: 0, waiting: 5, refused: 0 }]);
    jest.runOnlyPendingTimers();
    expect(log.slice(4)).toEqual(['a-5', 'b-1']);
    jest.runOnlyPendingTimers();
    expect(log.slice(6)).toEqual(['a-6', 'a-7']);
    jest.runOnlyPendingTimers();
    expect([log.length, queue.counts.waiting]).toEqual([8, 1]);
  });

  it('FairQueue refuses and counts what need not enter', () => {
    const { queue, enter, leave } = queueOf(1, 1);
    enter('a-1');
    expect(queue.refuses('b')).toBe(false);
    enter('b-1');
    expect(queue.refuses('c')).toBe(true);
    leave('b-1');
    expect(queue.refuses('c')).toBe(false);
    expect(queue.counts.refused).toBe(1);
  });

  it('FairQueue never exceeds its bounds, never loses a request, and starts whatever it can', () => {
    const step = fc.record({ isLeaving: fc.boolean(), key: fc.integer({ min: 0, max: 3 }), pick: fc.nat() });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(step, { maxLength: 60 }),
        (inWork, waiting, steps) => {
          const { queue, log, enter, leave } = queueOf(inWork, waiting);
          const present: string[] = [];
          steps.forEach(({ isLeaving, key, pick }, n) => {
            if (isLeaving && present.length > 0) leave(present.splice(pick % present.length, 1)[0]!);
            else {
              enter(`${key}-${n}`);
              present.push(`${key}-${n}`);
            }
            const counts = queue.counts;
            expect(counts.inWork).toBeLessThanOrEqual(inWork);
            expect(counts.waiting).toBeLessThanOrEqual(waiting);
          });
          for (const name of [...present]) leave(name);
          for (let n = 0; n < 100 && queue.counts.inWork > 0; n += 1) leave(log.at(-1)!);
          expect(queue.counts).toMatchObject({ inWork: 0, waiting: 0 });
          expect(new Set(log).size).toBe(log.length);
        },
      ),
      { numRuns: 300 },
    );
  });
});
