import { times } from '../support/long-run';
import { stopUnderLoad } from '../support/stop-rounds';
import { emptyDatabase } from '../support/test-database';

it('20 stops at 70 % load fail no request in flight and end in time', async () => {
  const database = await emptyDatabase();
  const rounds = times(20, 2);
  const report = await stopUnderLoad(database, rounds);
  process.stderr.write(`stops: ${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({ failed: [], doneUnread: 0, exits: Array<number>(rounds).fill(0) });
  expect(report.slowestMs).toBeLessThan(10_000);
  await database.drop();
});
