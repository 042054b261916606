import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { ServerCertificate } from './certificates';
import { freePort } from './free-port';
import { runServer, type ServerProcess } from './server-process';

/** What all servers of tests have in common. The service must not lean on a server's defaults. */
const COMMON = ['--bind-address=127.0.0.1', '--max-connections=500', '--default-time-zone=+08:00'];
const MARIADB = ['--skip-log-bin', '--character-set-server=latin1'];
/** Its own character set and order of texts (utf8mb4_0900_ai_ci), and a password, so that caching_sha2_password has work to do. */
const MYSQL = ['--mysqlx=OFF', '--secure-file-priv=NULL', '--sql-require-primary-key=ON'];
const MYSQL_PASSWORD = 'root-password';

/** For speed: this one is never killed. */
const SWIFT = ['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=1G'];
/** What COMMIT has answered is on the disk. */
const DURABLE = ['--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=64M'];
/** Without users MariaDB needs no installation, and starts in half a second. */
const WITHOUT_USERS = ['--skip-grant-tables', '--innodb-log-file-size=16M'];

export interface InnodbOptions {
  /** It may be killed, and started again. */
  readonly isDurable?: boolean;
  /** It takes encrypted connections alone. */
  readonly tls?: ServerCertificate;
  /** More settings, as `--name=value`. */
  readonly settings?: readonly string[];
}

/** A real MariaDB or MySQL in a temp folder, on loopback, for this test run only. */
export async function startInnodb(
  binary: string,
  { isDurable = false, tls, settings = [] }: InnodbOptions = {},
): Promise<ServerProcess> {
  const isMysql = basename(binary) === 'mysqld';
  const folder = mkdtempSync(join(tmpdir(), `tenantry-${basename(binary)}-`));
  const base = ['--no-defaults', `--datadir=${join(folder, 'data')}`, `--user=${userInfo().username}`];
  // Without users a server would not insist on encryption.
  const isInstalled = isMysql || !isDurable || tls !== undefined;
  if (isMysql) initialiseMysql(binary, folder, base);
  else if (isInstalled) installMariadb(binary, base);
  else mkdirSync(join(folder, 'data'));
  const port = await freePort();
  const url = `mysql://root${isMysql ? `:${MYSQL_PASSWORD}` : ''}@127.0.0.1:${port}`;
  const all = [
    ...[...base, `--port=${port}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`],
    ...[...COMMON, ...(isMysql ? MYSQL : MARIADB), ...(isDurable ? DURABLE : SWIFT)],
    ...(isInstalled ? [] : WITHOUT_USERS),
    ...(tls ? [`--ssl-cert=${tls.cert}`, `--ssl-key=${tls.key}`, '--require-secure-transport=ON'] : []),
    ...(tls?.clientsOf === undefined ? [] : [`--ssl-ca=${tls.clientsOf}`]),
    // MySQL logs all that it does, unless told not to.
    ...(isMysql && !settings.some((setting) => setting.startsWith('--log-bin')) ? ['--skip-log-bin'] : []),
    ...settings,
  ];
  const server = await runServer({
    ...{ url, port },
    spawn: () => spawn(binary, all, { stdio: 'ignore' }),
    ask: async () => {
      const ssl = tls && { ssl: { rejectUnauthorized: false } };
      await (await createConnection({ uri: url, ...ssl })).end();
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  });
  if (!isInstalled) {
    // A new data folder bears no kill before its first orderly end.
    await server.end('SIGTERM');
    await server.restart();
  }
  return server;
}

function installMariadb(binary: string, base: string[]): void {
  const installer = join(dirname(binary), '..', 'bin', 'mariadb-install-db');
  const args = [...base, '--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync(installer, args, { stdio: 'pipe' });
}

/** An account without a password would never be asked for one. */
function initialiseMysql(binary: string, folder: string, base: string[]): void {
  const init = join(folder, 'init.sql');
  writeFileSync(init, `ALTER USER root@localhost IDENTIFIED BY '${MYSQL_PASSWORD}';\n`);
  execFileSync(binary, [...base, '--initialize-insecure', `--init-file=${init}`, '--secure-file-priv=NULL'], {
    stdio: 'pipe',
  });
}
