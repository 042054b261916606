import type { DataSource } from 'typeorm';
import { HeldTime } from './hand-clock';

/** What a request of the last two seconds has put into a cache is still fresh while statements are counted. */
const RECENT_MS = 2000;

/** Asked every second, whatever a test does. */
const OF_WORKERS = /^SELECT 1 AS one FROM \S*tenantry_webhook\W/;

export interface RecordedQuery {
  readonly sql: string;
  readonly parameters: unknown[];
}

/**
 * The statements that TypeORM sends while `work` runs. The time stands still meanwhile: whenever what a cache holds became
 * too old in the midst of it, one more statement would be seen.
 */
export async function recordQueries(
  dataSource: DataSource,
  work: () => Promise<unknown>,
): Promise<RecordedQuery[]> {
  const queries: RecordedQuery[] = [];
  const spy = jest.spyOn(dataSource.logger, 'logQuery').mockImplementation((sql, parameters) => {
    if (!OF_WORKERS.test(sql)) queries.push({ sql, parameters: (parameters ?? []) as unknown[] });
  });
  const time = new HeldTime();
  time.pass(-RECENT_MS);
  try {
    await work();
  } finally {
    time.release();
    spy.mockRestore();
  }
  return queries;
}
