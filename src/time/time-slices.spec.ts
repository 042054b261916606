import { TimeSlices } from './time-slices';

describe('work in slices', () => {
  it('work in slices lets the event loop turn', async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    const slices = new TimeSlices();
    let waits = 0;
    while (waits < 3) {
      if (!slices.isOver) continue;
      waits += 1;
      await slices.next();
    }
    clearImmediate(immediate);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
