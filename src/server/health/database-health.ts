import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, MigrationExecutor } from 'typeorm';
import { mysqlPoolOf } from '../../database/mysql/mysql-pool-of';

export interface DatabaseReport {
  readonly database: 'up' | 'slow' | 'down';
  readonly migrations: 'done' | 'pending' | 'unknown';
}

/** A database that does not answer within this time is as good as down. */
const PATIENCE_MS = 2000;
const DOWN: DatabaseReport = { database: 'down', migrations: 'unknown' };

@Injectable()
export class DatabaseHealth {
  constructor(private readonly dataSource: DataSource) {}

  async report(): Promise<DatabaseReport> {
    const { pulse } = mysqlPoolOf(this.dataSource);
    if (pulse === 'lost') return DOWN;
    const tooLate = sleep(PATIENCE_MS, DOWN, { ref: false });
    const report = await Promise.race([this.#ask(), tooLate]).catch(() => DOWN);
    return pulse === 'slow' && report.database === 'up' ? { ...report, database: 'slow' } : report;
  }

  async #ask(): Promise<DatabaseReport> {
    const pending = await new MigrationExecutor(this.dataSource).getPendingMigrations();
    return { database: 'up', migrations: pending.length === 0 ? 'done' : 'pending' };
  }
}
