import { Socket } from 'node:net';
import type { ConnectionOptions, TlsOptions } from 'node:tls';
import { Client } from 'pg';
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
import { SilenceLimit } from '../silence-limit';

/**
 * Of each session, whatever the database or the user is set to. The lock wait is a third of a unit's time, so that a unit that
 * did not get the lock is still replayed. The driver reads no dates but those of ISO.
 */
const SESSION =
  '-c TimeZone=UTC -c DateStyle=ISO -c default_transaction_isolation=read\\ committed -c lock_timeout=1s';

export class PostgresBackend implements Backend {
  constructor(private readonly location: ServerLocation) {}

  async createDataSource(tables: Tables, onWait?: () => void): Promise<DataSource> {
    const { host, port, username, password, database, schema } = this.location;
    const { connections: max = MOST_CONNECTIONS } = this.location;
    await untilReachable(async () => {
      const client = await openConnection(this.location);
      await refuseOtherEncodings(client)
        .then(() => refuseMissingSchema(client, schema))
        .finally(() => client.end());
    }, onWait);
    const silence = new SilenceLimit();
    const stream = () => silence.watch(new Socket());
    const dataSource = new DataSource({
      ...commonOptions,
      ...tables,
      ...{ type: 'postgres', host, port, username, password, database },
      ...(schema !== undefined && { schema }),
      ...securityOf(this.location),
      connectTimeoutMS: 3000,
      installExtensions: false,
      extra: { max, options: SESSION, keepAlive: true, stream },
      synchronize: false,
    });
    return silence.heldBy(dataSource);
  }

  /** An advisory lock on a connection of its own; the server frees it if this process dies. */
  async lock(): Promise<Unlock> {
    const client = await openConnection(this.location);
    try {
      await client.query(`SET lock_timeout = '${LOCK_WAIT_S}s'`);
      // Those of the database or the user would end the wait, or this connection while it holds the lock.
      await client.query(`SELECT set_config(name, '0', false) FROM pg_settings
        WHERE name IN ('statement_timeout', 'idle_session_timeout')`);
      await client.query("SELECT pg_advisory_lock(hashtext('tenantry'))");
      return () => client.end();
    } catch (error) {
      await client.end();
      throw (error as { code?: unknown }).code === '55P03'
        ? new Error(`Another process has been preparing this database for ${LOCK_WAIT_S} s.`)
        : error;
    }
  }
}

/** A connection outside any pool. */
export async function openConnection(location: ServerLocation): Promise<Client> {
  const { host, port, username: user, password, database } = location;
  const options = { host, port, user, password, database, ...securityOf(location) };
  const client = new Client({ ...options, connectionTimeoutMillis: 5000 });
  // Without a listener, a connection that is cut would end the process.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    // The driver's own words for it are about its protocol.
    if (!(error as Error).message.includes('client password must be')) throw error;
    throw new Error('The database server asks for a password, and DATABASE_URL has none.', { cause: error });
  });
  return client;
}

/** In others a text may have no place, or is longer than it looks. */
async function refuseOtherEncodings(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8')
    throw new Error(`The database is encoded in ${encoding}; it must be created with ENCODING 'UTF8'.`);
}

async function refuseMissingSchema(client: Client, schema?: string): Promise<void> {
  const sql = 'SELECT nspname FROM pg_namespace WHERE nspname = COALESCE($1, current_schema())';
  const { rowCount } = await client.query(sql, [schema]);
  if (rowCount === 1) return;
  throw new Error(
    schema === undefined
      ? "No schema of the account's search_path exists in it."
      : `There is no schema ${schema} in it.`,
  );
}

function securityOf({ tls }: ServerLocation): { ssl?: ConnectionOptions & TlsOptions } {
  if (!tls) return {};
  const anyHost = tls.checkHost ? {} : { checkServerIdentity: () => undefined };
  return { ssl: { ...readCertificates(tls), ...anyHost, rejectUnauthorized: true } };
}
