import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, MigrationExecutor } from 'typeorm';

export interface DatabaseReport {
  readonly database: 'up' | 'down';
  readonly migrations: 'done' | 'pending' | 'unknown';
}

/** A database that does not answer within this time is as good as down. */
const PATIENCE_MS = 2000;
const DOWN: DatabaseReport = { database: 'down', migrations: 'unknown' };

@Injectable()
export class DatabaseHealth {
  constructor(private readonly dataSource: DataSource) {}

  async report(): Promise<DatabaseReport> {
    const timer = new AbortController();
    try {
      return await Promise.race([this.#ask(), sleep(PATIENCE_MS, DOWN, { signal: timer.signal })]);
    } catch {
      return DOWN;
    } finally {
      timer.abort();
    }
  }

  async #ask(): Promise<DatabaseReport> {
    const pending = await new MigrationExecutor(this.dataSource).getPendingMigrations();
    return { database: 'up', migrations: pending.length === 0 ? 'done' : 'pending' };
  }
}
