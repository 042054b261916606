import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';

declare global {
  /** Which database this Jest project runs on. */
  var TEST_DATABASE: 'sqlite' | 'mariadb';
}

export interface TestDatabase {
  readonly url: string;
  readonly folder: string;
  drop(): Promise<void>;
}

export const onMariadb = globalThis.TEST_DATABASE === 'mariadb';

/** An empty database of the kind this run is about: a SQLite file, or this worker's schema, made anew. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-test-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  if (!onMariadb) {
    return {
      url: `sqlite:${join(folder, 'test.sqlite')}`,
      folder,
      drop: removeFolder,
    };
  }
  const server = process.env.TENANTRY_TEST_SERVER!;
  const url = new URL(server);
  const schema = `tenantry_test_${process.env.JEST_WORKER_ID ?? '1'}`;
  const onServer = async (sql: string) => {
    const connection = await createConnection({ uri: server, multipleStatements: true });
    await connection.query(sql);
    await connection.end();
  };
  await onServer(`DROP DATABASE IF EXISTS ${schema}; CREATE DATABASE ${schema}`);
  url.pathname = `/${schema}`;
  return {
    url: url.href,
    folder,
    drop: async () => {
      await removeFolder();
      await onServer(`DROP DATABASE IF EXISTS ${schema}`);
    },
  };
}
