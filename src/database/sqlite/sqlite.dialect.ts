import { afterByRowValues, raiseByReturning, type Dialect } from '../dialect';
import type { SqliteDriver } from './sqlite.driver';

export const SQLITE: Dialect = {
  bigint: 'integer',
  integer: 'integer',
  longText: 'text',
  instant: 'datetime',
  instr: 'INSTR',
  findsByRowValues: true,
  charset: () => ({}),
  changeType: () => null,
  place: () => '?',
  returning: () => '',
  raise: raiseByReturning,
  analyze: () => null,
  // An INSERT gives the id of the last row.
  newIds: ({ insertId }, count) => Array.from({ length: count }, (_, index) => insertId - count + 1 + index),
  forceIndex: () => '',
  after: afterByRowValues,
  // Its connection prepares everything; a read outside of any transaction is done at once.
  preparing: ({ dataSource, isTransactionActive }, statement) => {
    const driver = dataSource.driver as SqliteDriver;
    const read = (sql: string, parameters: readonly unknown[]) => ({
      rows: driver.read(sql, parameters),
      affected: 0,
      insertId: 0,
    });
    const isPlainRead = !isTransactionActive && statement.startsWith('SELECT');
    return Promise.resolve(isPlainRead ? read : null);
  },
  isolationFor: () => Promise.resolve(undefined),
  poolState: ({ driver }) => {
    const { held, waiting } = (driver as SqliteDriver).writers;
    return { limit: 1, used: held, idle: 1 - held, waiting };
  },
};
