import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { parseDatabaseUrl, type MysqlLocation } from '../database/database-url';
import { createDataSource, loadMysql, type OwnTables } from '../data-source';

/** Where a throw-away database is made. */
export interface ThrowAwayOptions {
  /** Address of a MySQL or MariaDB server, with a user who may create databases. Default: a SQLite file. */
  readonly server?: string;
  /** Name of the database on that server; what is there under this name is lost. Default: a new one. */
  readonly name?: string;
}

/** An empty database for a test, gone without a trace when it is over. */
export interface ThrowAwayDatabase {
  /** As `DATABASE_URL` takes it. */
  readonly url: string;
  /** A folder of its own, for whatever else the test needs. */
  readonly folder: string;
  /** A DataSource on it with the tables of Tenantry and these of the host, all of them migrated. */
  readonly open: (tables?: OwnTables) => Promise<DataSource>;
  /** Closes what was opened, and removes everything. */
  readonly drop: () => Promise<void>;
}

export async function throwAwayDatabase({
  server,
  name = `tenantry_test_${randomBytes(6).toString('hex')}`,
}: ThrowAwayOptions = {}): Promise<ThrowAwayDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'tenantry-test-'));
  const url =
    server === undefined ? `sqlite:${join(folder, 'test.sqlite')}` : await emptySchema(server, name);
  const opened: DataSource[] = [];
  return {
    url,
    folder,
    open: async (tables) => {
      const dataSource = await createDataSource(parseDatabaseUrl(url), undefined, tables);
      opened.push(await dataSource.initialize());
      await dataSource.runMigrations();
      return dataSource;
    },
    drop: async () => {
      await Promise.all(opened.filter((each) => each.isInitialized).map((each) => each.destroy()));
      if (server !== undefined) await onServer(server, `DROP DATABASE IF EXISTS \`${name}\``);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function emptySchema(server: string, name: string): Promise<string> {
  await onServer(server, `DROP DATABASE IF EXISTS \`${name}\`; CREATE DATABASE \`${name}\``);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(server: string, sql: string): Promise<void> {
  const url = new URL(server);
  url.pathname = '/information_schema';
  const location = parseDatabaseUrl(url.href) as MysqlLocation;
  const connection = await loadMysql().openConnection(location, { multipleStatements: true });
  try {
    await connection.query(sql);
  } finally {
    await connection.end();
  }
}
