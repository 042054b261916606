import type { DataSource } from 'typeorm';
import type { SqliteDriver } from './sqlite/sqlite.driver';

/** How busy the connections are. */
export interface PoolState {
  readonly limit: number;
  readonly used: number;
  readonly idle: number;
  /** Who waits for one. */
  readonly waiting: number;
}

interface Many {
  readonly length: number;
}

/** The part of mysql2's pool that tells; it has no other way to ask. */
interface MysqlPool {
  readonly config: { readonly connectionLimit: number };
  readonly _allConnections: Many;
  readonly _freeConnections: Many;
  readonly _connectionQueue: Many;
}

export function poolStateOf({ driver }: DataSource): PoolState {
  const { writers } = driver as Partial<SqliteDriver>;
  if (writers) return { limit: 1, used: writers.inside, idle: 1 - writers.inside, waiting: writers.waiting };
  const { config, _allConnections, _freeConnections, _connectionQueue } = (
    driver as unknown as { pool: MysqlPool }
  ).pool;
  return {
    limit: config.connectionLimit,
    used: _allConnections.length - _freeConnections.length,
    idle: _freeConnections.length,
    waiting: _connectionQueue.length,
  };
}
