import type { DataSource } from 'typeorm';
import { createDataSource } from '../data-source';
import type { DatabaseLocation } from '../database/database-url';
import { ACCOUNTS } from './account/account.module';
import { SIGNING_IN } from './auth/auth.module';

/** What the service has beside the resources of the library; a host has users of its own. */
const serviceResources = [SIGNING_IN, ACCOUNTS];

export const serviceTables = {
  entities: serviceResources.flatMap<new () => object>(({ entities }) => entities),
  migrations: serviceResources.flatMap(({ migrations }) => migrations),
};

/** A DataSource of the service, not yet initialised. `onWait` is called when the server is not there yet. */
export function createServiceDataSource(
  location: DatabaseLocation,
  onWait?: () => void,
): Promise<DataSource> {
  return createDataSource(location, onWait, serviceTables);
}
