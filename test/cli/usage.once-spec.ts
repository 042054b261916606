import type { ThrowAwayDatabase } from '../../src/testing';
import { runCli } from '../support/run-cli';
import { emptyDatabase } from '../support/test-database';

describe('the command line', () => {
  let database: ThrowAwayDatabase;
  const cli = (args: string[]) => runCli(database, args);

  beforeAll(async () => {
    database = await emptyDatabase();
  });
  afterAll(() => database.drop());

  it('tells what it can do when it is asked for something else', async () => {
    for (const args of [
      [],
      ['user:eat'],
      ['toString'],
      ['user:add'],
      ['user:add', '--user', 'x', '--roles', 'tenant-admin'],
      ['doctor', '--wrong'],
    ]) {
      const { code, err } = await cli(args);
      expect([args, code, err.includes('Usage: tenantry')]).toEqual([args, 2, true]);
    }
  });
});
