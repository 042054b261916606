import { existsSync } from 'node:fs';
import { MigrationExecutor, type DataSource } from 'typeorm';
import { loadEnv, type Env } from '../config/env';
import { createDataSource } from '../database/data-source';

/** Opens the configured database for one command; it must have been set up by the service before. */
export async function withDatabase<T>(work: (dataSource: DataSource, env: Env) => Promise<T>): Promise<T> {
  const env = loadEnv();
  const { DATABASE_URL: location } = env;
  if (location.kind === 'sqlite' && !existsSync(location.path))
    throw new Error(`There is no database ${location.path}.`);
  const dataSource = await (await createDataSource(env.DATABASE_URL)).initialize();
  try {
    const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
    if (pending.length > 0) throw new Error('The database is not up to date: start the service once.');
    return await work(dataSource, env);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}
