import type { DataSource } from 'typeorm';
import type { Env } from './config/env';
import { ensureFirstAdmin, type FirstAdmin } from './account/first-admin';
import { withMigrationLock } from '../data-source';
import { tellDatabase, type DatabaseLocation } from '../database/database-url';
import { limitSilence } from '../database/silence-limit';
import { createServiceDataSource, migrate, refuseOutdated } from './service-data-source';

/** Longer than any statement of the service takes: PostgreSQL moves 100,000 departments in 3 s, on a busy machine in more. */
export const SILENCE_MS = 10_000;

export interface OpenDatabase {
  readonly dataSource: DataSource;
  readonly firstAdmin: FirstAdmin | null;
  /** Names of those that ran now. */
  readonly migrations: readonly string[];
}

/** Opens the database and, unless told not to, brings it up to date. The very first start makes an account. */
export function openDatabase(env: Env, onWait?: () => void): Promise<OpenDatabase> {
  const prepare = env.MIGRATE === 'on' ? migrate : refuseOutdated;
  return openAlone(env.DATABASE_URL, onWait, async (dataSource) => {
    const migrations = await prepare(dataSource).catch(tellDatabase(env.DATABASE_URL));
    const passwordRequired = env.NODE_ENV === 'production';
    const options = { password: env.ADMIN_PASSWORD, passwordRequired };
    const firstAdmin = await ensureFirstAdmin(dataSource, options);
    // Only now: a migration may well take longer.
    limitSilence(dataSource, SILENCE_MS);
    return { dataSource, firstAdmin, migrations };
  });
}

/** Opens a database that another process of this service has brought up to date. */
export async function openPrepared(location: DatabaseLocation, onWait?: () => void): Promise<DataSource> {
  const dataSource = await createServiceDataSource(location, onWait);
  await dataSource.initialize().catch(tellDatabase(location));
  limitSilence(dataSource, SILENCE_MS);
  return dataSource;
}

/** Opens the database and runs `work`, in one process at a time: replicas that start together take turns. */
export async function openAlone<T>(
  location: DatabaseLocation,
  onWait: (() => void) | undefined,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = await createServiceDataSource(location, onWait);
  return withMigrationLock(location, async () => {
    await dataSource.initialize().catch(tellDatabase(location));
    try {
      return await work(dataSource);
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
  });
}
