import { MigrationExecutor, type DataSource } from 'typeorm';
import { createDataSource } from '../data-source';
import { tableName } from '../database/columns';
import type { DatabaseLocation } from '../database/database-url';
import { withQueryRunner } from '../database/tenantry.data-source';
import { ACCOUNT_TABLES, KEY_TABLES, SIGN_IN_TABLES } from './auth/account.tables';
import { version } from './config/version';

/** What the service has beside the tables of the library; a host has users of its own. */
export const serviceTables = {
  entities: [...ACCOUNT_TABLES.entities, ...KEY_TABLES.entities, ...SIGN_IN_TABLES.entities],
  migrations: [...ACCOUNT_TABLES.migrations, ...SIGN_IN_TABLES.migrations],
};

/** A DataSource of the service, not yet initialised. `onWait` is called when the server is not there yet. */
export function createServiceDataSource(
  location: DatabaseLocation,
  onWait?: () => void,
): Promise<DataSource> {
  return createDataSource(location, onWait, serviceTables);
}

/** What a migration says whose tables replicas of the version before cannot use. */
interface Marked {
  readonly olderReplicasMustStop?: boolean;
}

/** Runs what is pending, and gives the names. `areStopped`: the operator says that no replica of an older version runs. */
export async function migrate(dataSource: DataSource, areStopped = false): Promise<string[]> {
  await refuseNewer(dataSource);
  const executor = new MigrationExecutor(dataSource);
  const pending = await executor.getPendingMigrations();
  const mustStop = pending.some(({ instance }) => (instance as Marked).olderReplicasMustStop);
  if (mustStop && !areStopped && (await isInUse(dataSource)))
    throw new Error(
      `The database is that of an older version, whose replicas must not run beside ${version}. ` +
        'Stop all of them, back up, then run: tenantry migrate --stopped',
    );
  return (await dataSource.runMigrations()).map(({ name }) => name);
}

/** Whether there is more in it than migrations write: a first start may have been interrupted between two of them. */
function isInUse(dataSource: DataSource): Promise<boolean> {
  return withQueryRunner(dataSource, async (runner) => {
    for (const [table, rows] of Object.entries({ tenant: 1, dept: 0, account: 0 })) {
      const name = `tenantry_${table}`;
      if (!(await runner.hasTable(name))) continue;
      const sql = `SELECT 1 FROM ${tableName(dataSource, name)} LIMIT ${rows + 1}`;
      if (((await runner.query(sql)) as unknown[]).length > rows) return true;
    }
    return false;
  });
}

/** For processes that do not migrate themselves; gives the names of none. */
export async function refuseOutdated(dataSource: DataSource): Promise<[]> {
  await refuseNewer(dataSource);
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  if (pending.length > 0)
    throw new Error(
      `The database is not up to date: it lacks ${pending.map(({ name }) => name).join(', ')}. Run: tenantry migrate`,
    );
  return [];
}

/** Migrations that are later than all of this version come from a newer one. Older ones may have been merged into others. */
async function refuseNewer(dataSource: DataSource): Promise<void> {
  // The last 13 digits of a name are its time stamp.
  const newest = Math.max(...dataSource.migrations.map(({ name = '' }) => Number(name.slice(-13))));
  const executed = await new MigrationExecutor(dataSource).getExecutedMigrations();
  const newer = executed.filter(({ timestamp }) => timestamp > newest).map(({ name }) => name);
  if (newer.length > 0)
    throw new Error(
      `The database is that of a newer version than ${version}: it has ${newer.join(', ')}. ` +
        'Start that version, or restore the backup from before the upgrade.',
    );
}
