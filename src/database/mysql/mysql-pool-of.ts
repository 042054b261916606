import type { DataSource } from 'typeorm';
import type { MysqlPool } from './mysql-pool';

/**
 * The sessions behind a DataSource of the service's own; nothing for SQLite, and for a host's own. Known by what they can do,
 * not by their class: that would load the driver for a server where there is none.
 */
export function mysqlPoolOf({ options }: DataSource): Partial<MysqlPool> {
  const { driver } = options as { driver?: Partial<MysqlPool> };
  return driver?.limitHolding ? driver : {};
}
