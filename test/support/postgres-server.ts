import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ServerCertificate } from './certificates';
import { freePort } from './free-port';
import { runServer, type ServerProcess } from './server-process';

/** For speed: this one is never killed. */
const SWIFT = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'shared_buffers=256MB'];
const DURABLE = ['shared_buffers=32MB'];

export interface PostgresOptions {
  /** It may be killed, and started again. */
  readonly isDurable?: boolean;
  /** It takes encrypted connections alone. With an authority for clients, the account `certified` must show a certificate in its name. */
  readonly tls?: ServerCertificate;
  /** The address of its primary. */
  readonly standbyOf?: string;
  /** More settings, as `name=value`. */
  readonly settings?: readonly string[];
}

/** A real cluster in a temp folder, on loopback, for this test run only. */
export async function startPostgres(
  bin: string,
  { isDurable = false, tls, standbyOf, settings = [] }: PostgresOptions = {},
): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-postgres-'));
  const user = unprivileged();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const run = (program: string, args: string[]) =>
    execFileSync(join(bin, program), args, { stdio: 'pipe', ...user });
  // The service must not lean on a server's order of texts.
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en'];
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', ...locale];
  // A standby begins with a copy of its primary.
  if (standbyOf) run('pg_basebackup', ['-d', standbyOf, '-D', data, '-R', '-X', 'stream', '-c', 'fast']);
  else run('initdb', initdb);
  const security = tls ? encryptedOnly(tls, data, user) : [];
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}`;
  const all = [
    ...['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`],
    ...['max_connections=300', 'timezone=Asia/Shanghai', ...(isDurable ? DURABLE : SWIFT)],
    ...security,
    ...settings,
  ];
  const args = ['-D', data, ...all.flatMap((setting) => ['-c', setting])];
  return runServer({
    ...{ url, port },
    spawn: () => spawn(join(bin, 'postgres'), args, { stdio: 'ignore', ...user }),
    ask: async () => {
      const ssl = tls && { ssl: { rejectUnauthorized: false } };
      const client = new Client({ connectionString: `${url}/postgres`, ...ssl });
      client.on('error', () => undefined);
      await client.connect();
      await client.end();
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
    // A fast stop: it does not wait for clients.
    stopSignal: 'SIGINT',
    // When it is killed, they end by themselves. Until then their memory keeps it from starting again.
    whatEndsLater: (server) => {
      const children = childrenOf(server);
      return () => !children.some(isRunning);
    },
  });
}

/** Settings of a server that takes encrypted connections alone. It takes a key only from a file of its own. */
function encryptedOnly(tls: ServerCertificate, data: string, user: User | null): string[] {
  const { cert, key, clientsOf } = tls;
  const given = { ssl_cert_file: cert, ssl_key_file: key, ...(clientsOf && { ssl_ca_file: clientsOf }) };
  const settings = Object.entries(given).map(([setting, file]) => {
    const own = join(data, setting);
    copyFileSync(file, own);
    chmodSync(own, 0o600);
    if (user) chownSync(own, user.uid, user.gid);
    return `${setting}=${own}`;
  });
  const certified = clientsOf ? 'hostssl all certified 127.0.0.1/32 trust clientcert=verify-full\n' : '';
  writeFileSync(join(data, 'pg_hba.conf'), `${certified}hostssl all all 127.0.0.1/32 trust\n`);
  return ['ssl=on', ...settings];
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): User | null {
  if (userInfo().uid !== 0) return null;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function childrenOf({ pid }: ChildProcess): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** In a container, no one may ask how it ended: then it stays as a zombie. */
function isRunning(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
}

/** Kills the session of one of its clients, as the kernel may do when memory is short: all sessions end, and it recovers. */
export async function killBackend(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
  );
  process.kill(rows[0]!.pid, 'SIGKILL');
  await client.end().catch(() => undefined);
}
