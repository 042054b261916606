import { times } from '../support/long-run';
import { Chance, faultsSeed } from '../support/chance';
import { emptyDatabase } from '../support/test-database';
import { swallowCommits } from '../support/unknown-commits';

it('100 swallowed answers to COMMIT double nothing, lose nothing, and nobody is told the opposite', async () => {
  const database = await emptyDatabase();
  const count = times(100, 10);
  const report = await swallowCommits(database, count, new Chance(faultsSeed('unknown commits')));
  process.stderr.write(`unknown commits: ${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({ swallowed: count, problems: [], untold: [] });
  expect(report.hung).toBeGreaterThan(0);
  await database.drop();
});
