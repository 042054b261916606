import type { DataSource } from 'typeorm';
import { createDataSource } from '../data-source';
import type { DatabaseLocation } from '../database/database-url';
import { ACCOUNT_TABLES, KEY_TABLES, SIGN_IN_TABLES } from './auth/account.tables';

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
