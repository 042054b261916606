import { TimeSlices } from './time-slices';

describe('work in slices', () => {
  it('lets the event loop turn, and sees every item in order', async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    const slices = new TimeSlices();
    let sum = 0;
    for (let part = 0; part < 20; part += 1) {
      for await (const item of slices.over(Array.from({ length: 10_000 }, (_, n) => n))) sum += item;
    }
    clearImmediate(immediate);
    expect(sum).toBe(20 * 49_995_000);
    expect(turns).toBeGreaterThan(0);
  });

  it('stops its source when it is not wanted any more', async () => {
    let isStopped = false;
    function* source(): Generator<number> {
      try {
        for (;;) yield 1;
      } finally {
        isStopped = true;
      }
    }
    for await (const item of new TimeSlices().over(source())) if (item === 1) break;
    expect(isStopped).toBe(true);
  });
});
