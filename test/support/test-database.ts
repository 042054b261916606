import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { examined } from './examined-databases';

declare global {
  /** Which database this Jest project runs on. */
  var TEST_DATABASE: 'sqlite' | 'mariadb';
}

export const onMariadb = globalThis.TEST_DATABASE === 'mariadb';

/**
 * An empty database of the kind this run is about: a SQLite file, or this worker's schema, made anew. The doctor examines
 * it after every test.
 */
export async function emptyDatabase(): Promise<ThrowAwayDatabase> {
  if (!onMariadb) return examined(await throwAwayDatabase());
  const name = `tenantry_test_${process.env.JEST_WORKER_ID ?? '1'}`;
  return examined(await throwAwayDatabase({ server: process.env.TENANTRY_TEST_SERVER!, name }));
}
