import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { parseDatabaseUrl, type ServerLocation } from '../database/database-url';
import type { OwnTables } from '../database/dialect';
import { createDataSource, loadMysql, loadPostgres } from '../data-source';

/** Where a throw-away database is made. */
export interface ThrowAwayOptions {
  /** Address of a MySQL, MariaDB or PostgreSQL server, with a user who may create databases. Default: a SQLite file. */
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
      if (server !== undefined) await onServer(server, [dropping(server, name)]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function emptySchema(server: string, name: string): Promise<string> {
  await onServer(server, [dropping(server, name), `CREATE DATABASE ${name}`]);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function dropping(server: string, name: string): string {
  // MySQL ends the connections to it by itself.
  return `DROP DATABASE IF EXISTS ${name}${isPostgres(server) ? ' WITH (FORCE)' : ''}`;
}

function isPostgres(server: string): boolean {
  return server.startsWith('postgres');
}

async function onServer(server: string, statements: readonly string[]): Promise<void> {
  const url = new URL(server);
  url.pathname = isPostgres(server) ? '/postgres' : '/information_schema';
  const location = parseDatabaseUrl(url.href) as ServerLocation;
  const { openConnection } = isPostgres(server) ? loadPostgres() : loadMysql();
  const connection: Connection = await openConnection(location);
  try {
    for (const sql of statements) await connection.query(sql);
  } finally {
    await connection.end();
  }
}

interface Connection {
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
}
