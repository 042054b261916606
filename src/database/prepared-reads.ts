import { Injectable } from '@nestjs/common';
import type { Pool } from 'mysql2';
import type { DataSource } from 'typeorm';
import { SqliteDriver } from './sqlite/sqlite.driver';
import { TenantryDataSource } from './tenantry.data-source';
import { UnitOfWork } from './unit-of-work';

type Value = string | number;
export type Row = Readonly<Record<string, unknown>>;

/**
 * Runs a SELECT of which the text stays the same as a prepared statement, past TypeORM's query runner: for the few
 * reads that are asked for so often that building, parsing and hydrating them again would be most of their cost.
 */
@Injectable()
export class PreparedReads {
  constructor(
    private readonly dataSource: TenantryDataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Again, as every read, when the database was away for a moment. */
  run(sql: string, parameters: Value[]): Promise<Row[]> {
    return this.unitOfWork.withoutTransaction(async () => {
      // Where the host has its statements logged, this one is among them.
      this.dataSource.logger.logQuery(sql, parameters);
      return read(this.dataSource, sql, parameters);
    });
  }
}

/** By the shortest way to the connections; where the driver is one that we do not know, by TypeORM's own. */
function read(dataSource: DataSource, sql: string, parameters: Value[]): Promise<Row[]> | Row[] {
  const { driver } = dataSource;
  if (driver instanceof SqliteDriver) return driver.read(sql, parameters);
  const { pool } = driver as { pool?: Pool };
  if (typeof pool?.execute !== 'function') return dataSource.query<Row[]>(sql, parameters);
  return new Promise((resolve, reject) => {
    pool.execute(sql, parameters, (error, rows) => {
      if (error) reject(error);
      else resolve(rows as Row[]);
    });
  });
}
