import type { DataSource, DataSourceOptions } from 'typeorm';
import type { Dialect } from './dialect';
import { MYSQL } from './mysql/mysql.dialect';
import { POSTGRES } from './postgres/postgres.dialect';
import { SQLITE } from './sqlite/sqlite.dialect';

const DIALECTS: Readonly<Partial<Record<DataSourceOptions['type'], Dialect>>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: POSTGRES,
  'better-sqlite3': SQLITE,
};

export const SUPPORTED_TYPES: readonly string[] = Object.keys(DIALECTS);

export function dialectOf({ options: { type } }: DataSource): Dialect {
  const dialect = DIALECTS[type];
  if (!dialect) throw new Error(`Tenantry does not work on ${type}.`);
  return dialect;
}
