import type { DataSource } from 'typeorm';
import type { Env } from './config/env';
import { ensureFirstAdmin, type FirstAdmin } from './account/first-admin';
import { withMigrationLock } from '../data-source';
import { limitSilence } from '../database/silence-limit';
import { createServiceDataSource } from './service-data-source';

/** Longer than any statement of the service takes: PostgreSQL moves 100,000 departments in 3 s, on a busy machine in more. */
export const SILENCE_MS = 10_000;

/** Opens the database and brings it up to date; replicas that start together take turns. The very first start makes an account. */
export async function openDatabase(
  env: Env,
  onWait?: () => void,
): Promise<{ dataSource: DataSource; firstAdmin: FirstAdmin | null }> {
  const dataSource = await createServiceDataSource(env.DATABASE_URL, onWait);
  return withMigrationLock(env.DATABASE_URL, async () => {
    await dataSource.initialize();
    try {
      await dataSource.runMigrations();
      const passwordRequired = env.NODE_ENV === 'production';
      const options = { password: env.ADMIN_PASSWORD, passwordRequired };
      const firstAdmin = await ensureFirstAdmin(dataSource, options);
      // Only now: a migration may well take longer.
      limitSilence(dataSource, SILENCE_MS);
      return { dataSource, firstAdmin };
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
  });
}
