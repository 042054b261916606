import { randomUUID } from 'node:crypto';
import type { SslOptions } from 'mysql2';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import type { ServerLocation } from '../database-url';
import {
  commonOptions,
  LOCK_WAIT_S,
  MOST_CONNECTIONS,
  type Backend,
  type Tables,
  type Unlock,
} from '../dialect';
import { readCertificates, untilReachable } from '../server-start';
import { takeMigrationLease } from './migration-lease';
import { SilenceLimit } from '../silence-limit';
import { MysqlPool } from './mysql-pool';
import { SESSION } from './mysql.dialect';

interface Variable extends RowDataPacket {
  readonly Variable_name: string;
  readonly Value: string;
}

export class MysqlBackend implements Backend {
  constructor(private readonly location: ServerLocation) {}

  async createDataSource(tables: Tables, onWait?: () => void): Promise<DataSource> {
    const { host, port, username, password, database, connections = MOST_CONNECTIONS } = this.location;
    const silence = new SilenceLimit();
    const dataSource = new DataSource({
      ...commonOptions,
      ...tables,
      ...{ host, port, username, password, database },
      ...securityOf(this.location),
      type: await this.#findType(onWait),
      driver: new MysqlPool(silence),
      charset: 'utf8mb4',
      timezone: 'Z',
      connectTimeout: 3000,
      // As numbers, unless they are larger than those are exact: texts cost eight times as much.
      bigNumberStrings: false,
      // No stack for each statement in case it fails: TypeORM's error has one.
      trace: false,
      extra: { connectionLimit: connections, maxPreparedStatements: 200 },
      synchronize: false,
    });
    return silence.heldBy(dataSource);
  }

  /**
   * MySQL's own named lock, on a connection of its own; the server frees it if this process dies. It does not reach other
   * nodes of a cluster: there a lease is taken too.
   */
  async lock(): Promise<Unlock> {
    const connection = await openConnection(this.location);
    try {
      await setNoLimits(connection);
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

  /** TypeORM tells the two servers apart: with the wrong type it sees endless schema differences. */
  async #findType(onWait?: () => void): Promise<'mysql' | 'mariadb'> {
    return untilReachable(async () => {
      const connection = await openConnection(this.location);
      try {
        await refuseStatementLog(connection);
        const [rows] = await connection.query('SELECT VERSION() AS version');
        return JSON.stringify(rows).includes('MariaDB') ? 'mariadb' : 'mysql';
      } finally {
        await connection.end();
      }
    }, onWait);
  }
}

/** A connection outside any pool. */
export async function openConnection(location: ServerLocation): Promise<Connection> {
  const { host, port, username: user, password, database } = location;
  const options = { host, port, user, password, database, ...securityOf(location), connectTimeout: 5000 };
  const connection = await createConnection(options);
  // Without a listener, a connection that is cut while nothing runs on it would end the process.
  connection.on('error', () => undefined);
  try {
    for (const sql of SESSION) await connection.query(sql);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** The server's own limits would end the wait for the lock, or this connection while it holds it. MySQL has other names. */
async function setNoLimits(connection: Connection): Promise<void> {
  await connection.query('SET SESSION wait_timeout = 86400');
  for (const limit of await variables(connection, 'max_statement_time', 'max_execution_time'))
    await connection.query(`SET SESSION ${limit.Variable_name} = 0`);
}

/** InnoDB refuses every write under READ COMMITTED while the binary log is to have their statements. */
async function refuseStatementLog(connection: Connection): Promise<void> {
  const values = (await variables(connection, 'log_bin', 'binlog_format')).map(({ Value }) => Value);
  if (values.includes('ON') && values.includes('STATEMENT'))
    throw new Error('The database server has binlog_format=STATEMENT; it must be MIXED or ROW.');
}

async function variables(connection: Connection, ...names: string[]): Promise<Variable[]> {
  const [rows] = await connection.query<Variable[]>('SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)', [
    names,
  ]);
  return rows;
}

function securityOf({ tls }: ServerLocation): { ssl?: SslOptions } {
  if (!tls) return {};
  const certificates = readCertificates(tls) as SslOptions;
  return { ssl: { ...certificates, rejectUnauthorized: true, verifyIdentity: tls.checkHost } };
}

/** Whether the server replicates its writes to others and theirs to it: by Galera, or in a group of MySQL's Group Replication. */
async function isCluster(connection: Connection): Promise<boolean> {
  const found = await variables(connection, 'wsrep_on', 'group_replication_group_name');
  return found.some(({ Value }) => Value !== '' && Value !== 'OFF');
}
