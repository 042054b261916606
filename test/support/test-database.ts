import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { examined } from './examined-databases';
import type { ServerKind } from './server-binaries.js';
import { urlOfServer } from './server-of-run';

declare global {
  /** Which database this Jest project runs on; where it does not matter, none is named. */
  var TEST_DATABASE: 'sqlite' | ServerKind | undefined;
}

export const onMariadb = globalThis.TEST_DATABASE === 'mariadb';
export const onMysql = globalThis.TEST_DATABASE === 'mysql';
/** On either of these two: they have one dialect. */
export const onInnodb = onMariadb || onMysql;
export const onPostgres = globalThis.TEST_DATABASE === 'postgres';
/** On a database server, not on a file. */
export const onServer = onInnodb || onPostgres;

/**
 * An empty database of the kind this run is about: a SQLite file, or this worker's database, made anew. The doctor examines
 * it after every test.
 */
export async function emptyDatabase(): Promise<ThrowAwayDatabase> {
  const { TEST_DATABASE: kind = 'sqlite' } = globalThis;
  if (kind === 'sqlite') return examined(await throwAwayDatabase());
  const name = `tenantry_test_${process.env.JEST_WORKER_ID ?? '1'}`;
  return examined(await throwAwayDatabase({ server: urlOfServer(kind), name }));
}
