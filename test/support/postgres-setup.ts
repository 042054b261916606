import { LOUD_POSTGRES, postgresFolder } from './server-binaries.js';
import { startPostgres, type PostgresServer } from './postgres-server';

declare global {
  var tenantryPostgres: PostgresServer | undefined;
}

export default async function setup(): Promise<void> {
  const given = process.env.TEST_POSTGRES_URL;
  const folder = postgresFolder();
  if (!given && !folder) throw new Error(LOUD_POSTGRES);
  if (!given && folder) globalThis.tenantryPostgres = await startPostgres(folder);
  // Test workers are started after this and inherit the environment.
  process.env.TENANTRY_TEST_POSTGRES = given ?? globalThis.tenantryPostgres?.url;
}
