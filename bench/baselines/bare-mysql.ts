import { createPool, type Pool } from 'mysql2';

/** A pool as large as the service's, with its sessions. Its callbacks cost less than promises do. */
export function barePool(): Pool {
  const pool = createPool({
    uri: process.env.DATABASE_URL ?? '',
    charset: 'utf8mb4',
    timezone: 'Z',
    connectionLimit: 20,
  });
  pool.on('connection', (connection) => {
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  });
  return pool;
}
