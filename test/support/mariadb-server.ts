import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';

const START_MS = 30_000;

export interface MariadbServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real server in a temp folder, on loopback, for this test run only. */
export async function startMariadb(binary: string): Promise<MariadbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-mariadb-'));
  const port = await freePort();
  const base = ['--no-defaults', `--datadir=${join(folder, 'data')}`, `--user=${userInfo().username}`];
  initialise(binary, base);
  const server = spawn(
    binary,
    [
      ...base,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      '--skip-log-bin',
      '--innodb-flush-log-at-trx-commit=2',
      '--max-connections=500',
      '--innodb-buffer-pool-size=1G',
      '--character-set-server=latin1', // the service must not lean on a server's defaults
    ],
    { stdio: 'ignore' },
  );
  // Whatever ends the test run ends the server.
  process.once('exit', () => server.kill('SIGKILL'));
  const url = `mysql://root@127.0.0.1:${port}`;
  await untilReady(url, server);
  return {
    url,
    stop: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
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

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const giveUp = Date.now() + START_MS;
  for (;;) {
    try {
      const connection = await createConnection(url);
      await connection.end();
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > giveUp) throw error;
      await sleep(100);
    }
  }
}

/** A free port below 32768: above it, sockets of clients come and go. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
