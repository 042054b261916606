import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { serverOptions, type MysqlFlavour } from '../config/data-source.options';
import type { DatabaseLocation } from '../config/database-url';
import { LOCK_WAIT_S, type Backend, type Tables, type Unlock } from './backend';
import { MysqlSessions } from './mysql-sessions';
import { faultOf } from './retry-policy';

/** How long a start waits for a database server that is itself still starting. */
const PATIENCE_MS = 30_000;

export class MysqlBackend implements Backend {
  constructor(private readonly location: DatabaseLocation & { kind: 'mysql' }) {}

  async createDataSource(tables: Tables, onWait?: () => void): Promise<DataSource> {
    const options = serverOptions(this.location, await this.#askFlavour(onWait), new MysqlSessions());
    return new DataSource({ ...options, ...tables });
  }

  /** MySQL's own named lock, on a connection of its own; the server frees it if this process dies. */
  async lock(): Promise<Unlock> {
    const connection = await this.#connect();
    const name = `tenantry:${this.location.database}`.slice(0, 64);
    const [rows] = await connection.query<RowDataPacket[]>('SELECT GET_LOCK(?, ?) AS got', [
      name,
      LOCK_WAIT_S,
    ]);
    if (Number(rows[0]?.got) === 1) return () => connection.end();
    await connection.end();
    throw new Error(`Another process has been preparing this database for ${LOCK_WAIT_S} s.`);
  }

  async #askFlavour(onWait?: () => void): Promise<MysqlFlavour> {
    const giveUp = Date.now() + PATIENCE_MS;
    for (let tries = 0; ; tries += 1) {
      try {
        const connection = await this.#connect();
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

  #connect(): Promise<Connection> {
    const { host, port, username: user, password, database } = this.location;
    return createConnection({ host, port, user, password, database, connectTimeout: 5000 });
  }
}
