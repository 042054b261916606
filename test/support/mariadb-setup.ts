import { LOUD, mariadbBinary } from './server-binaries.js';
import { startMariadb, type MariadbServer } from './mariadb-server';

declare global {
  var tenantryMariadb: MariadbServer | undefined;
}

export default async function setup(): Promise<void> {
  const given = process.env.TEST_DATABASE_URL;
  const binary = mariadbBinary();
  if (!given && !binary) throw new Error(LOUD);
  if (!given && binary) globalThis.tenantryMariadb = await startMariadb(binary);
  // Test workers are started after this and inherit the environment.
  process.env.TENANTRY_TEST_SERVER = given ?? globalThis.tenantryMariadb?.url;
}
