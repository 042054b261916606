import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { DatabaseLocation } from '../config/database-url';
import { faultOf } from './retry-policy';
import { SqliteConnection } from './sqlite/sqlite.connection';

const LOCK_WAIT_S = 120;

type Unlock = () => Promise<void>;

/**
 * Runs `work` (opening, migrations, the first account) in one process at a time, so that replicas may start
 * together: the others wait, then find everything done.
 */
export async function exclusively<T>(location: DatabaseLocation, work: () => Promise<T>): Promise<T> {
  const unlock = await (location.kind === 'sqlite' ? lockFile(location.path) : lockServer(location));
  try {
    return await work();
  } finally {
    await unlock();
  }
}

/** MySQL's own named lock, on a connection of its own; the server frees it if this process dies. */
async function lockServer(location: DatabaseLocation & { kind: 'mysql' }): Promise<Unlock> {
  const { host, port, username: user, password, database } = location;
  const connection = await createConnection({ host, port, user, password, database, connectTimeout: 5000 });
  const name = `tenantry:${database}`.slice(0, 64);
  const [rows] = await connection.query<RowDataPacket[]>('SELECT GET_LOCK(?, ?) AS got', [name, LOCK_WAIT_S]);
  if (Number(rows[0]?.got) === 1) return () => connection.end();
  await connection.end();
  throw new Error(`Another process has been preparing this database for ${LOCK_WAIT_S} s.`);
}

/** SQLite has no named locks: a transaction on a companion file is one, and the system frees it with the process. */
async function lockFile(path: string): Promise<Unlock> {
  mkdirSync(dirname(path), { recursive: true });
  const connection = new SqliteConnection(`${path}.lock`);
  const giveUp = Date.now() + LOCK_WAIT_S * 1000;
  for (;;) {
    try {
      connection.exec('BEGIN EXCLUSIVE');
      return () => {
        connection.close();
        return Promise.resolve();
      };
    } catch (error) {
      if (faultOf(error) === 'fatal' || Date.now() > giveUp) throw error;
      await sleep(50);
    }
  }
}
