import { afterByRowValues, PLAIN_SESSION, raiseByReturning, type Dialect } from '../dialect';
import type { SqliteDriver } from './sqlite.driver';

export const SQLITE: Dialect = {
  bigint: 'integer',
  integer: 'integer',
  longText: 'text',
  instant: 'datetime',
  timesAsText: false,
  instr: 'INSTR',
  findsByRowValues: true,
  charset: () => ({}),
  changeType: () => null,
  place: () => '?',
  returning: () => '',
  raise: raiseByReturning,
  passIds: () => [],
  analyze: () => null,
  // An INSERT gives the id of the last row.
  newIds: ({ insertId }, count) => Array.from({ length: count }, (_, index) => insertId - count + 1 + index),
  // For more than a few ids it would walk an index through the whole tenant: it takes each tenant for ten rows. Where the key has
  // more columns it is an index like others.
  forceIndex: (index, { primaryColumns }) =>
    index === 'PRIMARY' && primaryColumns.length === 1 ? ' NOT INDEXED' : '',
  after: afterByRowValues,
  // Its connection prepares everything; a read outside of any transaction needs no runner.
  preparing: ({ dataSource, isTransactionActive }, statement) => {
    const driver = dataSource.driver as SqliteDriver;
    const read = async (sql: string, parameters: readonly unknown[]) => ({
      rows: await driver.read(sql, parameters),
      affected: 0,
      insertId: 0,
    });
    const isPlainRead = !isTransactionActive && statement.startsWith('SELECT');
    return Promise.resolve(isPlainRead ? read : null);
  },
  unitSession: () => Promise.resolve(PLAIN_SESSION),
  poolState: ({ driver }) => {
    const { held, waiting } = (driver as SqliteDriver).writers;
    return { limit: 1, used: held, idle: 1 - held, waiting };
  },
};
