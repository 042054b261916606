import type { DatabaseLocation } from './database-url';
import { backendOf } from './backend-of';

/**
 * Runs `work` (opening, migrations, the first account) in one process at a time, so that replicas may start
 * together: the others wait, then find everything done.
 */
export async function withMigrationLock<T>(location: DatabaseLocation, work: () => Promise<T>): Promise<T> {
  const unlock = await backendOf(location).lock();
  try {
    return await work();
  } finally {
    await unlock();
  }
}
