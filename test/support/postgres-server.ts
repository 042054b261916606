import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from './mariadb-server';

/** Only bounds a hang. */
const START_MS = 100_000;

/** For speed: this one is never killed. */
const SWIFT = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'shared_buffers=256MB'];
const DURABLE = ['shared_buffers=32MB'];

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
  /** Resolves when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when it answers. */
  restart(): Promise<void>;
}

/** A real cluster in a temp folder, on loopback, for this test run only. */
export async function startPostgres(
  bin: string,
  { isDurable = false, settings = [] as readonly string[], tls = false } = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-postgres-'));
  const user = unprivileged();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  // The service must not lean on a server's order of texts.
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en'];
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', ...locale];
  execFileSync(join(bin, 'initdb'), initdb, { stdio: 'pipe', ...user });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}`;
  const all = [
    ...['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`],
    ...['max_connections=300', 'timezone=Asia/Shanghai', ...(isDurable ? DURABLE : SWIFT), ...settings],
  ];
  const start = async (): Promise<ChildProcess> => {
    const args = ['-D', data, ...all.flatMap((setting) => ['-c', setting])];
    const started = spawn(join(bin, 'postgres'), args, { stdio: 'ignore', ...user });
    await untilReady(url, started, tls);
    return started;
  };
  let server = await start();
  process.once('exit', () => server.kill('SIGQUIT'));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  return {
    url,
    port,
    end,
    stop: async () => {
      // A fast stop: it does not wait for clients.
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async () => {
      server = await start();
    },
  };
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | null {
  if (userInfo().uid !== 0) return null;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function untilReady(url: string, server: ChildProcess, tls: boolean): Promise<void> {
  const giveUp = Date.now() + START_MS;
  for (;;) {
    const client = new Client({
      connectionString: `${url}/postgres`,
      ...(tls && { ssl: { rejectUnauthorized: false } }),
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > giveUp) throw error;
      await sleep(50);
    }
  }
}
