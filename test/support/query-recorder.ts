import type { DataSource } from 'typeorm';

export interface RecordedQuery {
  readonly sql: string;
  readonly parameters: unknown[];
}

/** The statements that TypeORM sends while `work` runs. */
export async function recordQueries(
  dataSource: DataSource,
  work: () => Promise<unknown>,
): Promise<RecordedQuery[]> {
  const queries: RecordedQuery[] = [];
  const spy = jest.spyOn(dataSource.logger, 'logQuery').mockImplementation((sql, parameters) => {
    queries.push({ sql, parameters: (parameters ?? []) as unknown[] });
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return queries;
}
