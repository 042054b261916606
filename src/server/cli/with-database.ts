import { existsSync } from 'node:fs';
import { MigrationExecutor, type DataSource } from 'typeorm';
import { describeDatabase } from '../../database/database-url';
import { loadEnv, type Env } from '../config/env';
import { createDataSource } from '../../data-source';

/** Opens the configured database for one command; it must have been set up by the service before. */
export async function withDatabase<T>(work: (dataSource: DataSource, env: Env) => Promise<T>): Promise<T> {
  const env = loadEnv();
  const { DATABASE_URL: location } = env;
  if (location.kind === 'sqlite' && !existsSync(location.path))
    throw new Error(`There is no database ${location.path}. Start the service once, or run: tenantry demo`);
  return opened(env, async (dataSource) => {
    await refuseOutdated(dataSource);
    return work(dataSource, env);
  });
}

/** The same for a command that may set up the database itself: `work` runs only where it has been set up before. */
export async function withExistingDatabase(
  env: Env,
  work: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  const { DATABASE_URL: location } = env;
  if (location.kind === 'sqlite' && !existsSync(location.path)) return;
  await opened(env, async (dataSource) => {
    const done = await new MigrationExecutor(dataSource).getExecutedMigrations();
    if (done.length === 0) return;
    await refuseOutdated(dataSource);
    await work(dataSource);
  });
}

export function sayWaiting(): void {
  process.stderr.write('Waiting for the database.\n');
}

async function opened<T>(env: Env, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = await open(env);
  try {
    return await work(dataSource);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

async function refuseOutdated(dataSource: DataSource): Promise<void> {
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  if (pending.length > 0) throw new Error('The database is not up to date: start the service once.');
}

async function open({ DATABASE_URL: location }: Env): Promise<DataSource> {
  try {
    return await (await createDataSource(location, sayWaiting)).initialize();
  } catch (error) {
    // Errors of a connection to several addresses at once have a code and no message.
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message === '' ? String(code) : message;
    throw new Error(`Could not open the database ${describeDatabase(location)}: ${reason}`, { cause: error });
  }
}
