import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { DataSource, type MigrationInterface } from 'typeorm';
import { commonOptions, serverOptions, type MysqlFlavour } from '../config/data-source.options';
import type { DatabaseLocation } from '../config/database-url';
import { entities } from './entities';
import { migrations } from './migrations/index';
import { faultOf } from './retry-policy';
import { SqliteDataSource } from './sqlite/sqlite.data-source';

/** How long a start waits for a database server that is itself still starting. */
const PATIENCE_MS = 30_000;

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
  if (location.kind === 'sqlite') {
    return new SqliteDataSource({ ...commonOptions, ...tables, database: location.path });
  }
  return new DataSource({ ...serverOptions(location, await askFlavour(location, onWait)), ...tables });
}

async function askFlavour(
  location: DatabaseLocation & { kind: 'mysql' },
  onWait?: () => void,
): Promise<MysqlFlavour> {
  const { host, port, username: user, password, database } = location;
  const giveUp = Date.now() + PATIENCE_MS;
  for (let tries = 0; ; tries += 1) {
    try {
      const connection = await createConnection({
        host,
        port,
        user,
        password,
        database,
        connectTimeout: 5000,
      });
      const [rows] = await connection.query('SELECT VERSION() AS version');
      await connection.end();
      return JSON.stringify(rows).includes('MariaDB') ? 'mariadb' : 'mysql';
    } catch (error) {
      if (faultOf(error) === 'fatal' || Date.now() > giveUp) throw error;
      if (tries === 0) onWait?.();
      await sleep(500);
    }
  }
}
