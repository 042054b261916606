import type { DatabaseLocation } from './database-url';
import type { Backend } from './backend';
import type * as MysqlBackendFile from './mysql/mysql.backend';
import type * as SqliteBackendFile from './sqlite/sqlite.backend';

/** Loads the one driver that this location needs: the other would add a tenth to every start. */
export function backendOf(location: DatabaseLocation): Backend {
  if (location.kind === 'sqlite') {
    const { SqliteBackend } = require('./sqlite/sqlite.backend') as typeof SqliteBackendFile;
    return new SqliteBackend(location);
  }
  const { MysqlBackend } = require('./mysql/mysql.backend') as typeof MysqlBackendFile;
  return new MysqlBackend(location);
}
