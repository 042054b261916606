import type { Connection, ResultSetHeader } from 'mysql2/promise';
import { evenly, retry } from '../../concurrency/retry';
import { LOCK_WAIT_S, type Unlock } from '../dialect';
import { faultOf } from '../retry-policy';

/** How long a lease is good when its holder does not renew it. */
const LEASE_S = 30;
const RENEW_MS = 5000;
const POLL_MS = 200;

const TABLE = `CREATE TABLE IF NOT EXISTS tenantry_start_lease (
  id int NOT NULL PRIMARY KEY, holder varchar(36) NOT NULL, until_time datetime NOT NULL)`;
const ROW = `INSERT IGNORE INTO tenantry_start_lease (id, holder, until_time) VALUES (1, '', '2000-01-01')`;
const TAKE = `UPDATE tenantry_start_lease SET holder = ?, until_time = UTC_TIMESTAMP() + INTERVAL ${LEASE_S} SECOND
  WHERE id = 1 AND until_time < UTC_TIMESTAMP()`;
const RENEW = `UPDATE tenantry_start_lease SET until_time = UTC_TIMESTAMP() + INTERVAL ${LEASE_S} SECOND
  WHERE id = 1 AND holder = ?`;
const GIVE =
  "UPDATE tenantry_start_lease SET holder = '', until_time = '2000-01-01' WHERE id = 1 AND holder = ?";

/**
 * A lock that holds on all nodes of a cluster: a row that one process at a time can write its name into, because certification lets
 * only one of two writes through. A holder that dies leaves it to the next after half a minute. It is no lease of `LeaseRepository`,
 * because it is needed before there are tables, and it goes by the server's clock.
 */
export async function takeMigrationLease(connection: Connection, holder: string): Promise<Unlock> {
  // Another node was first: certification says so by a deadlock.
  const isConflict = (error: unknown) => error instanceof Held || faultOf(error) === 'conflict';
  const persist = (sql: string) =>
    retry(() => connection.query(sql, [holder]), evenly(POLL_MS, 10 * POLL_MS, isConflict));
  const take = async () => {
    const [{ affectedRows }] = await connection.query<ResultSetHeader>(TAKE, [holder]);
    if (affectedRows !== 1)
      throw new Held(`Another node has been preparing this database for ${LOCK_WAIT_S} s.`);
  };
  await persist(TABLE);
  await persist(ROW);
  await retry(take, evenly(POLL_MS, LOCK_WAIT_S * 1000, isConflict));
  const renewal = setInterval(() => {
    // A renewal that fails is tried again before the lease is over.
    connection.query(RENEW, [holder]).catch(() => undefined);
  }, RENEW_MS).unref();
  return async () => {
    clearInterval(renewal);
    await persist(GIVE);
  };
}

class Held extends Error {}
