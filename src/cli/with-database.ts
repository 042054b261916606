import { existsSync } from 'node:fs';
import { MigrationExecutor, type DataSource } from 'typeorm';
import { describeDatabase } from '../config/database-url';
import { loadEnv, type Env } from '../config/env';
import { createDataSource } from '../database/data-source';

/** Opens the configured database for one command; it must have been set up by the service before. */
export async function withDatabase<T>(work: (dataSource: DataSource, env: Env) => Promise<T>): Promise<T> {
  const env = loadEnv();
  const { DATABASE_URL: location } = env;
  if (location.kind === 'sqlite' && !existsSync(location.path))
    throw new Error(`There is no database ${location.path}. Start the service once, or run: tenantry demo`);
  const dataSource = await open(env);
  try {
    const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
    if (pending.length > 0) throw new Error('The database is not up to date: start the service once.');
    return await work(dataSource, env);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

async function open({ DATABASE_URL: location }: Env): Promise<DataSource> {
  try {
    return await (await createDataSource(location, sayWaiting)).initialize();
  } catch (error) {
    throw couldNotOpen(location, error);
  }
}

export function sayWaiting(): void {
  process.stderr.write('Waiting for the database.\n');
}

/** Some errors of a connection, such as those of several addresses at once, have a code and no message. */
export function couldNotOpen(location: Env['DATABASE_URL'], error: unknown): Error {
  const { message, code } = error as NodeJS.ErrnoException;
  const reason = message === '' ? String(code) : message;
  return new Error(`Could not open the database ${describeDatabase(location)}: ${reason}`, { cause: error });
}
