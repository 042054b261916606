import type { DataSource } from 'typeorm';
import { tellDatabase, type DatabaseLocation } from './database/database-url';
import type { Backend, OwnTables } from './database/dialect';
import type * as MysqlFile from './database/mysql/mysql.backend';
import type * as PostgresFile from './database/postgres/postgres.backend';
import type * as SqliteFile from './database/sqlite/sqlite.data-source';
import { entities, migrations } from './resources';
import { loadPart } from './errors/load-part';

/** A DataSource for this location with the library's tables and `own`, not yet initialised. `onWait` is called when the server is not there yet. */
export async function createDataSource(
  location: DatabaseLocation,
  onWait?: () => void,
  own: OwnTables = {},
): Promise<DataSource> {
  const tables = {
    entities: [...entities, ...(own.entities ?? [])],
    migrations: [...migrations, ...(own.migrations ?? [])],
  };
  return backendOf(location).createDataSource(tables, onWait).catch(tellDatabase(location));
}

/**
 * Runs `work` (opening, migrations, the first account) in one process at a time, so that replicas may start
 * together: the others wait, then find everything done.
 */
export async function withMigrationLock<T>(location: DatabaseLocation, work: () => Promise<T>): Promise<T> {
  const unlock = await backendOf(location).lock().catch(tellDatabase(location));
  try {
    return await work();
  } finally {
    await unlock();
  }
}

/** Loads the one driver that this location needs: the other would add a tenth to every start. */
function backendOf(location: DatabaseLocation): Backend {
  if (location.kind === 'sqlite') {
    const { SqliteBackend } = require('./database/sqlite/sqlite.data-source') as typeof SqliteFile;
    return new SqliteBackend(location.path);
  }
  return location.kind === 'postgres'
    ? new (loadPostgres().PostgresBackend)(location)
    : new (loadMysql().MysqlBackend)(location);
}

export function loadMysql(): typeof MysqlFile {
  const load = () => require('./database/mysql/mysql.backend') as typeof MysqlFile;
  return loadPart('MySQL', ['mysql2'], load);
}

export function loadPostgres(): typeof PostgresFile {
  const load = () => require('./database/postgres/postgres.backend') as typeof PostgresFile;
  return loadPart('PostgreSQL', ['pg'], load);
}
