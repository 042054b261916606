import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { onPostgres } from './test-database';

const INNODB = `SELECT 1 FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id
  WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()`;
const POSTGRES = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Whether a session waits in this database for a lock of another. */
export async function isWaitingForLock(dataSource: DataSource): Promise<boolean> {
  // InnoDB makes its list anew only when nobody has read it for 0.1 s.
  if (!onPostgres) await sleep(150);
  return (await dataSource.query<unknown[]>(onPostgres ? POSTGRES : INNODB)).length > 0;
}
