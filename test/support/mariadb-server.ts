import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SslOptions } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import type { Certificate } from './certificates';

/** Only bounds a hang. */
const START_MS = 100_000;
const POLL_MS = 50;

/** What all servers of tests have in common. */
const COMMON = [
  ...['--bind-address=127.0.0.1', '--skip-log-bin', '--max-connections=500'],
  // The service must not lean on a server's defaults.
  ...['--character-set-server=latin1', '--default-time-zone=+08:00'],
];
/** For speed: this one is never killed. */
const SWIFT = ['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=1G'];
/** What COMMIT has answered is on the disk. Without users it needs no installation, and starts in half a second. */
const DURABLE = [
  ...['--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=64M'],
  ...['--innodb-log-file-size=16M', '--skip-grant-tables'],
];

export interface MariadbServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A server that may be killed at any moment, and started again on what it left. */
export interface MortalMariadb extends MariadbServer {
  /** Resolves when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when it answers. */
  restart(): Promise<void>;
}

/** A real server in a temp folder, on loopback, for this test run only. */
export async function startMariadb(binary: string): Promise<MariadbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-mariadb-'));
  initialise(binary, base(folder));
  return startIn(folder, binary, SWIFT);
}

export async function startMortalMariadb(binary: string): Promise<MortalMariadb> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-mortal-'));
  mkdirSync(join(folder, 'data'));
  const server = await startIn(folder, binary, DURABLE);
  // A new data folder bears no kill before its first orderly end.
  await server.end('SIGTERM');
  await server.restart();
  return server;
}

/** A server that takes encrypted connections alone. */
export async function startTlsMariadb(binary: string, { cert, key }: Certificate): Promise<MariadbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-tls-'));
  // With users: without them the server would not insist on encryption.
  initialise(binary, base(folder));
  const tls = [`--ssl-cert=${cert}`, `--ssl-key=${key}`, '--require-secure-transport=ON'];
  const settings = ['--innodb-buffer-pool-size=64M', ...tls];
  return startIn(folder, binary, settings, { rejectUnauthorized: false });
}

/** A server with a binary log of this format. */
export async function startLoggingMariadb(binary: string, format: string): Promise<MariadbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-logging-'));
  mkdirSync(join(folder, 'data'));
  return startIn(folder, binary, [...DURABLE, '--log-bin=log', '--server-id=1', `--binlog-format=${format}`]);
}

async function startIn(
  folder: string,
  binary: string,
  settings: readonly string[],
  ssl?: SslOptions,
): Promise<MortalMariadb> {
  const port = await freePort();
  const url = `mysql://root@127.0.0.1:${port}`;
  const places = [
    `--port=${port}`,
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
  ];
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(binary, [...base(folder), ...places, ...COMMON, ...settings], { stdio: 'ignore' });
    await untilReady(url, started, ssl);
    return started;
  };
  let server = await start();
  // Whatever ends the test run ends the server.
  process.once('exit', () => server.kill('SIGKILL'));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  return {
    url,
    stop: async () => {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
    end,
    restart: async () => {
      server = await start();
    },
  };
}

function base(folder: string): string[] {
  return ['--no-defaults', `--datadir=${join(folder, 'data')}`, `--user=${userInfo().username}`];
}

function initialise(binary: string, base: string[]): void {
  const installer = join(dirname(binary), '..', 'bin', 'mariadb-install-db');
  try {
    execFileSync(installer, [...base, '--auth-root-authentication-method=normal', '--skip-test-db'], {
      stdio: 'pipe',
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || basename(binary) !== 'mysqld') throw error;
    execFileSync(binary, [...base, '--initialize-insecure'], { stdio: 'pipe' });
  }
}

async function untilReady(url: string, server: ChildProcess, ssl?: SslOptions): Promise<void> {
  const giveUp = Date.now() + START_MS;
  for (;;) {
    try {
      const connection = await createConnection({ uri: url, ...(ssl && { ssl }) });
      await connection.end();
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > giveUp) throw error;
      await sleep(POLL_MS);
    }
  }
}

/** Ports for each Jest worker, and for the process that starts them: nobody takes a port that another is about to use. */
const PORTS = 3000;
const firstPort = 20_000 + PORTS * (Number(process.env.JEST_WORKER_ID ?? 0) % 4);
const given = new Set<number>();

/** A free port below 32768: above it, sockets of clients come and go. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * PORTS);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

export function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}
