import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { commonOptions } from '../data-source.options';
import type { DatabaseLocation } from '../database-url';
import { LOCK_WAIT_S, type Backend, type Tables, type Unlock } from '../backend';
import { faultOf } from '../retry-policy';
import { SqliteConnection } from './sqlite.connection';
import { SqliteDataSource } from './sqlite.data-source';

export class SqliteBackend implements Backend {
  constructor(private readonly location: DatabaseLocation & { kind: 'sqlite' }) {}

  createDataSource(tables: Tables): Promise<DataSource> {
    return Promise.resolve(
      new SqliteDataSource({ ...commonOptions, ...tables, database: this.location.path }),
    );
  }

  /** SQLite has no named locks: a transaction on a companion file is one, and the system frees it with the process. */
  async lock(): Promise<Unlock> {
    const { path } = this.location;
    mkdirSync(dirname(path), { recursive: true });
    const connection = new SqliteConnection(`${path}.lock`);
    const giveUp = Date.now() + LOCK_WAIT_S * 1000;
    for (;;) {
      try {
        connection.exec('BEGIN EXCLUSIVE');
        return () => {
          connection.close();
          return Promise.resolve();
        };
      } catch (error) {
        if (faultOf(error) === 'fatal' || Date.now() > giveUp) throw error;
        await sleep(50);
      }
    }
  }
}
