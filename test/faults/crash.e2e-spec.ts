import { throwAwayDatabase } from '../../src/server/testing';
import { killServerOften, killServiceOften, type CrashReport } from '../support/crash-rounds';
import { mariadbBinary } from '../support/mariadb-binary.js';
import { startMortalMariadb } from '../support/mariadb-server';
import { times } from '../support/long-run';
import { Chance, faultsSeed } from '../support/chance';
import { emptyDatabase } from '../support/test-database';

const RECOVERY_MS = 5000;

describe('crashes under write load lose and double nothing', () => {
  function judge(name: string, report: CrashReport): void {
    process.stderr.write(`${name}: ${JSON.stringify(report)}\n`);
    expect(report.slowestMs).toBeLessThan(RECOVERY_MS);
    // The load was one: without writes, nothing was tried.
    expect(report.acknowledged).toBeGreaterThan(report.rounds * 6);
  }

  for (const [name, make] of [
    ['MariaDB', emptyDatabase],
    ['SQLite', throwAwayDatabase],
  ] as const) {
    it(`30 of the service on ${name}`, async () => {
      const database = await make();
      const random = new Chance(faultsSeed(`kill -9 of the service on ${name}`));
      judge(name, await killServiceOften(database, times(30, 2), random));
      await database.drop();
    });
  }

  it('10 of MariaDB', async () => {
    const server = await startMortalMariadb(mariadbBinary() ?? 'mariadbd');
    const database = await throwAwayDatabase({ server: server.url });
    const random = new Chance(faultsSeed('kill -9 of MariaDB'));
    judge('server', await killServerOften(server, database, times(10, 2), random));
    await database.drop();
    await server.stop();
  });
});
