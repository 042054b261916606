import { describeDatabase, tellDatabase } from '../../database/database-url';
import { loadDatabaseSettings } from '../config/environment';
import { openAlone } from '../open-database';
import { migrate } from '../service-data-source';
import { print } from './values';
import { refuseOthers, sayWaiting } from './with-database';

/** Runs what is pending, and prints the names. */
export async function migrateCommand({ stopped }: { readonly stopped: boolean }): Promise<number> {
  const { location } = loadDatabaseSettings();
  const names = await openAlone(location, sayWaiting, async (dataSource) => {
    await refuseOthers(dataSource);
    const ran = await migrate(dataSource, stopped).catch(tellDatabase(location));
    await dataSource.destroy();
    return ran;
  });
  for (const name of names) print(`ran  ${name}`);
  print(`The database ${describeDatabase(location)} is up to date.`);
  return 0;
}
