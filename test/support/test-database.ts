import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { examined } from './examined-databases';

declare global {
  /** Which database this Jest project runs on. */
  var TEST_DATABASE: 'sqlite' | 'mariadb' | 'postgres';
}

export const onMariadb = globalThis.TEST_DATABASE === 'mariadb';
export const onPostgres = globalThis.TEST_DATABASE === 'postgres';
/** On a database server, not on a file. */
export const onServer = onMariadb || onPostgres;

/**
 * An empty database of the kind this run is about: a SQLite file, or this worker's database, made anew. The doctor examines
 * it after every test.
 */
export async function emptyDatabase(): Promise<ThrowAwayDatabase> {
  if (!onServer) return examined(await throwAwayDatabase());
  const name = `tenantry_test_${process.env.JEST_WORKER_ID ?? '1'}`;
  const { TENANTRY_TEST_SERVER, TENANTRY_TEST_POSTGRES } = process.env;
  const server = onMariadb ? TENANTRY_TEST_SERVER! : TENANTRY_TEST_POSTGRES!;
  return examined(await throwAwayDatabase({ server, name }));
}
