import type { DataSource, MigrationInterface } from 'typeorm';
import type { DatabaseLocation } from './database/database-url';
import { backendOf } from './database/backend-of';
import { entities } from './schema';
import { migrations } from './database/migrations/index';

/** Tables of a host beside those of the library. */
export interface OwnTables {
  readonly entities?: readonly (new () => object)[];
  readonly migrations?: readonly (new () => MigrationInterface)[];
}

/** A DataSource for this location, not yet initialised. `onWait` is called when the server is not there yet. */
export async function createDataSource(
  location: DatabaseLocation,
  onWait?: () => void,
  own: OwnTables = {},
): Promise<DataSource> {
  const tables = {
    entities: [...entities, ...(own.entities ?? [])],
    migrations: [...migrations, ...(own.migrations ?? [])],
  };
  return backendOf(location).createDataSource(tables, onWait);
}
