import { promisify } from 'node:util';
import { createPool, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2';
import type { Driver, Outcome, Value } from './database';

/** A pool as large as the service's, with its session settings. It connects when it is used. */
const pool: Pool = createPool({
  uri: process.env.DATABASE_URL ?? '',
  charset: 'utf8mb4',
  timezone: 'Z',
  connectionLimit: 20,
});
pool.on('connection', (connection) => {
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  connection.query("SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'");
});

export const getConnection = promisify(pool.getConnection.bind(pool));

export const mysql: Driver = {
  forceIndex: (index) => `FORCE INDEX (${index})`,
  returning: () => '',
  execute: (sql, values) => executeOn(pool, sql, values),
  connect: async () => {
    const connection = await getConnection();
    const query = (sql: string, done: (error: Error | null) => void): unknown => connection.query(sql, done);
    return {
      execute: (sql, values) => executeOn(connection, sql, values),
      run: promisify(query),
      release: () => {
        connection.release();
      },
    };
  },
};

function executeOn(on: Pool | PoolConnection, sql: string, values: Value[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    on.execute(sql, values, (error, result) => {
      if (error) reject(error);
      else if (Array.isArray(result)) resolve({ rows: result, affected: 0, insertId: 0 });
      else {
        const { affectedRows, insertId } = result as ResultSetHeader;
        resolve({ rows: [], affected: affectedRows, insertId });
      }
    });
  });
}
