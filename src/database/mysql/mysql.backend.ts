import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { connectionOptions, serverOptions, type MysqlFlavour } from '../data-source.options';
import type { MysqlLocation } from '../database-url';
import { LOCK_WAIT_S, type Backend, type Tables, type Unlock } from '../backend';
import { MysqlPool } from './mysql-pool';
import { faultOf } from '../retry-policy';
import { takeMigrationLease } from './migration-lease';

/** How long a start waits for a database server that is itself still starting. */
const PATIENCE_MS = 30_000;

export class MysqlBackend implements Backend {
  constructor(private readonly location: MysqlLocation) {}

  async createDataSource(tables: Tables, onWait?: () => void): Promise<DataSource> {
    const options = serverOptions(this.location, await this.#askFlavour(onWait), new MysqlPool());
    return new DataSource({ ...options, ...tables });
  }

  /**
   * MySQL's own named lock, on a connection of its own; the server frees it if this process dies. It does not reach other
   * nodes of a cluster: there a lease is taken too.
   */
  async lock(): Promise<Unlock> {
    const connection = await this.#connect();
    try {
      const [rows] = await connection.query<RowDataPacket[]>('SELECT GET_LOCK(?, ?) AS got', [
        `tenantry:${this.location.database}`.slice(0, 64),
        LOCK_WAIT_S,
      ]);
      if (Number(rows[0]?.got) !== 1)
        throw new Error(`Another process has been preparing this database for ${LOCK_WAIT_S} s.`);
      const giveBack = (await isCluster(connection))
        ? await takeMigrationLease(connection, randomUUID())
        : undefined;
      return async () => {
        try {
          await giveBack?.();
        } finally {
          await connection.end();
        }
      };
    } catch (error) {
      await connection.end();
      throw error;
    }
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
        refuseUntrusted(error);
        if (faultOf(error) === 'fatal' || Date.now() > giveUp) throw error;
        if (tries === 0) onWait?.();
        await sleep(500);
      }
    }
  }

  #connect(): Promise<Connection> {
    return createConnection(connectionOptions(this.location));
  }
}

/** Whether the server replicates its writes to others and theirs to it (Galera). */
async function isCluster(connection: Connection): Promise<boolean> {
  const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'");
  return rows[0]?.Value === 'ON';
}

/** A certificate does not become good by waiting, and nobody should be without encryption because of it. */
function refuseUntrusted(error: unknown): void {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT')
    throw new Error('DATABASE_URL asks for TLS (ssl=true), and the database server offers none.');
  if (code !== 'HANDSHAKE_SSL_ERROR' || !/certificate/i.test(message)) return;
  throw new Error(
    `The certificate of the database server was refused: ${message}. If an authority of your own or of your provider has issued ` +
      'it, name the file with its certificate in DATABASE_URL (&ssl-ca=/path/ca.pem); the host must be named as in the certificate.',
    { cause: error },
  );
}
