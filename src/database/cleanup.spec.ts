import type { DiscoveryService } from '@nestjs/core';
import { SilentMeter } from './meter';
import { Cleanup, RemovesExpired } from './cleanup';

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
function tableOf(
  rows: number,
  { name = 'table', beforeEach }: { name?: string; beforeEach?: (statement: number) => Promise<void> } = {},
) {
  class Table {
    statements = 0;

    @RemovesExpired(name)
    async removeExpired(): Promise<number> {
      this.statements += 1;
      await beforeEach?.(this.statements);
      const taken = Math.min(10, rows);
      rows -= taken;
      return taken;
    }
  }
  return new Table();
}

function cleanupOf(meter: Counts, ...tables: object[]): Cleanup {
  const wrappers = tables.map((instance) => ({ instance, isDependencyTreeStatic: () => true }));
  const discovery = { getProviders: () => wrappers, getControllers: () => [] };
  const cleanup = new Cleanup(discovery as unknown as DiscoveryService, meter);
  cleanup.onApplicationBootstrap();
  return cleanup;
}

describe('the hourly cleanup', () => {
  let meter: Counts;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    meter = new Counts();
  });
  afterEach(() => jest.useRealTimers());

  it('the hourly cleanup empties all of its tables, though one of them fails', async () => {
    const beforeEach = () => Promise.reject(new Error('no such table'));
    const broken = tableOf(1, { name: 'broken', beforeEach });
    await cleanupOf(meter, ...[broken, tableOf(25, { name: 'full' }), tableOf(0, { name: 'empty' })]).run();
    expect([meter.removed, meter.failures]).toEqual([{ broken: 0, full: 25, empty: 0 }, { broken: 1 }]);
  });

  it('the hourly cleanup runs every hour from the start of the application to its end', async () => {
    const table = tableOf(0);
    const cleaner = cleanupOf(meter, table);
    for (const hour of [1, 2, 3]) {
      await jest.advanceTimersByTimeAsync(HOUR_MS);
      expect(table.statements).toBe(hour);
    }
    await cleaner.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(2 * HOUR_MS);
    expect([table.statements, jest.getTimerCount()]).toEqual([3, 0]);
  });

  it('the hourly cleanup ends between two statements when the application ends, which waits for it', async () => {
    let end: Promise<void> | undefined;
    let answered = 0;
    const table = tableOf(Infinity, {
      beforeEach: async (statement) => {
        if (statement === 3) end = cleaner.onModuleDestroy();
        await new Promise(setImmediate);
        answered = statement;
      },
    });
    const cleaner: Cleanup = cleanupOf(meter, table);
    const run = cleaner.run();
    await run;
    await end;
    expect([answered, table.statements]).toEqual([3, 3]);
  });

  it('the hourly cleanup does not begin again while it runs', async () => {
    let answer: () => void = () => undefined;
    const table = tableOf(0, { beforeEach: () => new Promise((resolve) => (answer = resolve)) });
    const cleaner = cleanupOf(meter, table);
    const runs = [cleaner.run(), cleaner.run()];
    answer();
    await Promise.all(runs);
    expect(table.statements).toBe(1);
  });
});
