import { throwAwayDatabase } from '../../src/server/testing';
import { killServerOften, killServiceOften, swallowCommits } from '../support/crash-rounds';
import { mariadbBinary, mysqlBinary, postgresFolder } from '../support/server-binaries.js';
import { startInnodb } from '../support/innodb-server';
import { killBackend, startPostgres } from '../support/postgres-server';
import { Chance, faultsSeed } from '../support/chance';
import { emptyDatabase, onInnodb, onMysql, onPostgres, onServer } from '../support/test-database';

// How long it takes until everything works again is measured by `npm run test:faults`.
describe('a crash under write load loses and doubles nothing', () => {
  it('a crash of the service under write load loses and doubles nothing', async () => {
    const database = await emptyDatabase();
    const random = new Chance(faultsSeed('kill -9 of the service'));
    await killServiceOften(database, 1, random);
    await database.drop();
  });

  if (onPostgres && postgresFolder()) {
    it('a crash of the database server, and of one of its sessions, loses and doubles nothing', async () => {
      const server = await startPostgres(postgresFolder()!, { isDurable: true });
      const random = new Chance(faultsSeed('kill -9 of PostgreSQL'));
      for (const killed of ['server', 'session']) {
        const database = await throwAwayDatabase({ server: server.url });
        const session = { end: () => killBackend(database.url), restart: () => Promise.resolve() };
        await killServerOften(killed === 'server' ? server : session, database, 1, random);
        await database.drop();
      }
      await server.stop();
    });
  }

  const binary = onMysql ? mysqlBinary() : mariadbBinary();
  if (onInnodb && binary !== undefined) {
    it('a crash of the database server under write load loses and doubles nothing', async () => {
      const server = await startInnodb(binary, { isDurable: true });
      const database = await throwAwayDatabase({ server: server.url });
      const random = new Chance(faultsSeed('kill -9 of MariaDB or MySQL'));
      await killServerOften(server, database, 1, random);
      await database.drop();
      await server.stop();
    });
  }
});

if (onServer) {
  describe('answers to COMMIT that are swallowed under load', () => {
    it('swallowed answers to COMMIT double nothing, lose nothing, and nobody is told the opposite', async () => {
      const database = await emptyDatabase();
      const random = new Chance(faultsSeed('unknown commits'));
      const { swallowed, problems, untold } = await swallowCommits(database, 8, random);
      expect({ swallowed, problems, untold }).toEqual({ swallowed: 8, problems: [], untold: [] });
      await database.drop();
    });
  });
}
