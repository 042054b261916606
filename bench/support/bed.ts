import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/testing/throw-away-database';
import { TEST_SECRET } from '../../src/server/testing';
import { version } from '../../src/server/config/version';
import { serviceResources } from '../../src/server/docs/service-resources';
import { serviceTables } from '../../src/server/service-data-source';
import { PermissionCatalogue } from '../../src/tenancy/permissions';
import { cpuMs } from '../../test/support/process-cpu';
import { compileBaselines } from './compile-baselines';
import { ServerProcess } from './server-process';

const SERVICE = join(__dirname, '..', '..', 'dist', 'server', 'main.js');
const GC_HOOK = join(__dirname, 'gc-hook.cjs');
const NO_JOURNAL_HOOK = join(__dirname, 'no-journal-hook.cjs');
/** MariaDB is idle when it spends no more than this in a second. */
const IDLE_MS = 50;
const MOST_SETTLING_S = 60;
const OUT_OF_REACH = '999999999';
const ENV = {
  // On a busy machine requests of the bench wait long; that is no overload of the service.
  MAX_WAIT_MS: '60000',
  JWT_SECRET: TEST_SECRET,
  ADMIN_PASSWORD: 'admin-password',
  RATE_LIMIT_USER: OUT_OF_REACH,
  RATE_LIMIT_LOGIN_ADDRESS: OUT_OF_REACH,
};
/** What baselines answer about the service. */
const permissions = new PermissionCatalogue(serviceResources).held(['tenant_admin'], null);
const FACTS = JSON.stringify({ version, permissions });

export type Baseline = 'express' | 'smallest-nest' | 'textbook-nest';

/** Where one measure happens: a database of its own, with the service and the baselines on it. */
export class Bed {
  readonly #ends: (() => Promise<void>)[] = [];
  #database: Promise<ThrowAwayDatabase> | undefined;
  #dataSource: Promise<DataSource> | undefined;

  constructor(private readonly server: string) {}

  database(): Promise<ThrowAwayDatabase> {
    this.#database ??= throwAwayDatabase({ server: this.server }).then((made) => {
      this.#ends.push(() => made.drop());
      return made;
    });
    return this.#database;
  }

  /** With all tables, for filling them. */
  dataSource(): Promise<DataSource> {
    this.#dataSource ??= this.database().then((database) => database.open(serviceTables));
    return this.#dataSource;
  }

  /** The built service as it runs in production; only the limits of requests a minute are out of reach. */
  service({ gc = false, journal = true } = {}): Promise<ServerProcess> {
    const collecting = gc ? ['--expose-gc', '--require', GC_HOOK] : [];
    return this.#start(SERVICE, [...collecting, ...(journal ? [] : ['--require', NO_JOURNAL_HOOK])]);
  }

  /** A folder of `bench/baselines/`, on the same database. */
  baseline(name: Baseline): Promise<ServerProcess> {
    return this.#start(join(compileBaselines(), name, 'main.js'), [], { FACTS });
  }

  /** CPU time of MariaDB so far, in milliseconds. */
  async mariadbCpu(): Promise<() => number> {
    const [row] = await (await this.dataSource()).query<{ file: string }[]>('SELECT @@pid_file AS file');
    const pid = Number(readFileSync(row?.file ?? '', 'utf8'));
    return () => cpuMs(pid);
  }

  /** Waits until MariaDB has written what it was filled with, so that nothing later is charged with it. */
  async settle(): Promise<void> {
    const cpu = await this.mariadbCpu();
    for (let seconds = 0; seconds < MOST_SETTLING_S; seconds += 1) {
      const before = cpu();
      await sleep(1000);
      if (cpu() - before <= IDLE_MS) return;
    }
  }

  /** Another database on the same server, for what must be there at the same time. */
  beside(): Bed {
    const bed = new Bed(this.server);
    this.#ends.unshift(() => bed.close());
    return bed;
  }

  async version(): Promise<string> {
    const [row] = await (await this.dataSource()).query<{ text: string }[]>('SELECT version() AS text');
    return row?.text.split(' on ')[0] ?? '?';
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }

  async #start(
    script: string,
    nodeOptions: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    const { url, folder } = await this.database();
    const server = await ServerProcess.start(
      script,
      { ...ENV, ...more, DATABASE_URL: url, DATA_DIR: folder },
      nodeOptions,
    );
    this.#ends.unshift(() => server.stop());
    return server;
  }
}
