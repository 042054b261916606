import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { ApiClient } from '../../src/testing/api-client';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/testing/throw-away-database';
import { mintToken, TEST_SECRET } from '../../src/server/testing';
import { PLATFORM_TENANT } from '../../src/tenancy/tenant-code';
import { compileBaselines } from './compile-baselines';
import { ServerProcess } from './server-process';

const SERVICE = join(__dirname, '..', '..', 'dist', 'server', 'main.js');
const GC_HOOK = join(__dirname, 'gc-hook.cjs');

export type Kind = 'mariadb' | 'sqlite';

/**
 * Where one measure happens: databases of its own, the service and the baselines on them. All of it is gone when the
 * measure is over.
 */
export class Bed {
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #databases = new Map<Kind, Promise<ThrowAwayDatabase>>();
  #dataSource: Promise<DataSource> | undefined;

  constructor(private readonly mariadb: string) {}

  database(kind: Kind): Promise<ThrowAwayDatabase> {
    const known = this.#databases.get(kind);
    if (known) return known;
    const made = throwAwayDatabase(kind === 'mariadb' ? { server: this.mariadb } : {});
    this.#databases.set(kind, made);
    this.#ends.unshift(async () => (await made).drop());
    return made;
  }

  /** On the measure's MariaDB, with all tables: for filling it. */
  dataSource(): Promise<DataSource> {
    this.#dataSource ??= this.database('mariadb').then((database) => database.open());
    return this.#dataSource;
  }

  /** The built service as it runs in production; only the limit of requests a minute is out of reach. */
  async service(kind: Kind = 'mariadb', { gc = false } = {}): Promise<ServerProcess> {
    const env = { ADMIN_PASSWORD: 'admin-password', RATE_LIMIT_USER: '999999999' };
    const options = gc ? ['--expose-gc', '--require', GC_HOOK] : [];
    return this.#start(SERVICE, kind, env, options);
  }

  /** A file of `bench/baselines/`, on the same database. */
  baseline(
    name: string,
    kind: Kind = 'mariadb',
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    return this.#start(join(compileBaselines(), `${name}.js`), kind, env);
  }

  /** A client with a token for this tenant. */
  client(server: ServerProcess, tenantId = PLATFORM_TENANT): ApiClient {
    return new ApiClient(server.baseUrl).as(mintToken({ tenantId }));
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    this.#ends.length = 0;
  }

  async #start(
    script: string,
    kind: Kind,
    env: Readonly<Record<string, string>>,
    nodeOptions?: readonly string[],
  ): Promise<ServerProcess> {
    const { url, folder } = await this.database(kind);
    const common = { DATABASE_URL: url, DATA_DIR: folder, JWT_SECRET: TEST_SECRET };
    const server = await ServerProcess.start(script, { ...common, ...env }, nodeOptions);
    this.#ends.unshift(() => server.stop());
    return server;
  }
}
