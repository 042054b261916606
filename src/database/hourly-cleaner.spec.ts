import { SilentMeter } from './meter';
import { HourlyCleaner } from './hourly-cleaner';

const HOUR_MS = 60 * 60 * 1000;

/** Counts what it is told. */
class Counts extends SilentMeter {
  readonly removed: Record<string, number> = {};
  readonly failures: Record<string, number> = {};

  override rowsRemoved(table: string, count: number): void {
    this.removed[table] = (this.removed[table] ?? 0) + count;
  }

  override cleanupFailed(table: string): void {
    this.failures[table] = (this.failures[table] ?? 0) + 1;
  }
}

/** A table with so many rows that are over, of which each statement takes ten. */
function tableOf(rows: number, beforeEach: (statement: number) => Promise<void> = () => Promise.resolve()) {
  let statements = 0;
  return {
    get statements() {
      return statements;
    },
    removeExpired: async () => {
      statements += 1;
      await beforeEach(statements);
      const taken = Math.min(10, rows);
      rows -= taken;
      return taken;
    },
  };
}

describe('an hourly cleaner', () => {
  let meter: Counts;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    meter = new Counts();
  });
  afterEach(() => jest.useRealTimers());

  it('an hourly cleaner empties all of its tables, though one of them fails', async () => {
    const broken = { removeExpired: () => Promise.reject(new Error('no such table')) };
    const cleaner = new HourlyCleaner(meter, { broken, full: tableOf(25), empty: tableOf(0) });
    await cleaner.run();
    expect([meter.removed, meter.failures]).toEqual([{ broken: 0, full: 25, empty: 0 }, { broken: 1 }]);
  });

  it('an hourly cleaner runs every hour from the start of the application to its end', async () => {
    const table = tableOf(0);
    const cleaner = new HourlyCleaner(meter, { table });
    cleaner.onApplicationBootstrap();
    for (const hour of [1, 2, 3]) {
      await jest.advanceTimersByTimeAsync(HOUR_MS);
      expect(table.statements).toBe(hour);
    }
    await cleaner.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(2 * HOUR_MS);
    expect([table.statements, jest.getTimerCount()]).toEqual([3, 0]);
  });

  it('an hourly cleaner ends between two statements when the application ends, which waits for it', async () => {
    let end: Promise<void> | undefined;
    let answered = 0;
    const table = tableOf(Infinity, async (statement) => {
      if (statement === 3) end = cleaner.onModuleDestroy();
      await new Promise(setImmediate);
      answered = statement;
    });
    const cleaner: HourlyCleaner = new HourlyCleaner(meter, { table });
    const run = cleaner.run();
    await run;
    await end;
    expect([answered, table.statements]).toEqual([3, 3]);
  });

  it('an hourly cleaner does not begin again while it runs', async () => {
    let answer: () => void = () => undefined;
    const table = tableOf(0, () => new Promise((resolve) => (answer = resolve)));
    const cleaner = new HourlyCleaner(meter, { table });
    const runs = [cleaner.run(), cleaner.run()];
    answer();
    await Promise.all(runs);
    expect(table.statements).toBe(1);
  });
});
