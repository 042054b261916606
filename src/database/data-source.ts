import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { dataSourceOptions, type MysqlFlavour } from '../config/data-source.options';
import type { DatabaseLocation } from '../config/database-url';
import { faultOf } from './retry-policy';
import { SqliteDriver } from './sqlite/sqlite.driver';

/** How long a start waits for a database server that is itself still starting. */
const PATIENCE_MS = 30_000;

/** A DataSource for this location, not yet initialised. */
export async function createDataSource(location: DatabaseLocation): Promise<DataSource> {
  const flavour = location.kind === 'mysql' ? await askFlavour(location) : 'mysql';
  const dataSource = new DataSource(dataSourceOptions(location, flavour));
  if (location.kind === 'sqlite') dataSource.driver = new SqliteDriver(dataSource);
  return dataSource;
}

async function askFlavour(location: DatabaseLocation & { kind: 'mysql' }): Promise<MysqlFlavour> {
  const { host, port, username: user, password, database } = location;
  const giveUp = Date.now() + PATIENCE_MS;
  for (;;) {
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
      await sleep(500);
    }
  }
}
