import { createPool, type Pool, type PoolOptions } from 'mysql2';

/**
 * What every MySQL session of ours is set to, once per connection instead of once per transaction.
 * READ COMMITTED: under REPEATABLE READ a plain read before the tree's lock would freeze a stale view.
 */
const SESSION = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  "SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = 5",
];

/** The part of the mysql2 module that TypeORM's driver calls, with our session settings on each connection. */
export const mysqlSessions = {
  createPool(options: PoolOptions): Pool {
    const pool = createPool(options);
    pool.on('connection', (connection) => {
      // Queries on one connection run in order, so these come before whatever the caller asks.
      for (const sql of SESSION)
        connection.query(sql, (error) => {
          if (error) connection.destroy();
        });
    });
    return pool;
  },
};
