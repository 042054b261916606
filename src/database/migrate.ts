import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { faultOf } from './retry-policy';
import { SqliteConnection } from './sqlite/sqlite.connection';

const LOCK_WAIT_S = 120;

/**
 * Runs `work` (migrations, the first account) in one process at a time, so that replicas may start together:
 * the others wait, then find everything done.
 */
export async function exclusively<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const unlock = await lock(dataSource);
  try {
    return await work();
  } finally {
    await unlock();
  }
}

function lock(dataSource: DataSource): Promise<() => Promise<void>> {
  const { options } = dataSource;
  return options.type === 'better-sqlite3' ? lockFile(`${options.database}.lock`) : lockServer(dataSource);
}

/** MySQL's own named lock, on a connection of its own; the server frees it if this process dies. */
async function lockServer(dataSource: DataSource): Promise<() => Promise<void>> {
  const runner = dataSource.createQueryRunner();
  const name = `tenantry:${String(dataSource.driver.database)}`.slice(0, 64);
  const rows = (await runner.query('SELECT GET_LOCK(?, ?) AS got', [name, LOCK_WAIT_S])) as {
    got: unknown;
  }[];
  if (Number(rows[0]?.got) !== 1) {
    await runner.release();
    throw new Error(`Another process has been migrating this database for ${LOCK_WAIT_S} s.`);
  }
  return async () => {
    await runner.query('SELECT RELEASE_LOCK(?)', [name]);
    await runner.release();
  };
}

/** SQLite has no named locks: a transaction on a companion file is one, and the system frees it with the process. */
async function lockFile(path: string): Promise<() => Promise<void>> {
  const connection = new SqliteConnection(path);
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
