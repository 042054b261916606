import { createPool, type Pool, type PoolConnection, type PoolOptions } from 'mysql2';

/**
 * What every MySQL session of ours is set to, once per connection instead of once per transaction.
 * READ COMMITTED: under REPEATABLE READ a plain read before the tree's lock would freeze a stale view. The lock
 * wait is a third of a unit's time, so that a unit that waited in vain is still replayed.
 */
const SESSION = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
     innodb_lock_wait_timeout = 1`,
];

/** The part of the mysql2 module that TypeORM's driver calls, with our settings on each connection. */
export class MysqlSessions {
  #limitMs: number | undefined;
  readonly #cutters = new Map<PoolConnection, NodeJS.Timeout>();

  createPool(options: PoolOptions): Pool {
    const pool = createPool(options);
    pool.on('connection', (connection) => {
      // TypeORM asks for it with every statement, and mysql2 would look its file up and make a new one each time.
      const promised = connection.promise();
      connection.promise = () => promised;
      // Queries on one connection run in order, so these come before whatever the caller asks.
      for (const sql of SESSION) {
        connection.query(sql, (error) => {
          if (error) connection.destroy();
        });
      }
    });
    // Not the pool's event `acquire`: a connection that is handed on to somebody who waits does not cause it.
    const getConnection = pool.getConnection.bind(pool);
    pool.getConnection = (done) => {
      getConnection((error, connection) => {
        if (!error) this.#watch(connection);
        done(error, connection);
      });
    };
    pool.on('release', (connection) => {
      this.#unwatch(connection);
    });
    return pool;
  }

  /** From now on a connection that is held longer is cut: a server that hangs must not make everybody hang. */
  limitHolding(milliseconds: number): void {
    this.#limitMs = milliseconds;
  }

  #unwatch(connection: PoolConnection): void {
    clearTimeout(this.#cutters.get(connection));
    this.#cutters.delete(connection);
  }

  #watch(connection: PoolConnection): void {
    this.#unwatch(connection);
    if (this.#limitMs === undefined) return;
    const cut = (): void => {
      this.#cutters.delete(connection);
      // Not `connection.destroy()`: that one leaves the query that is waiting without an answer.
      (connection as unknown as { stream: { destroy(): void } }).stream.destroy();
    };
    this.#cutters.set(connection, setTimeout(cut, this.#limitMs).unref());
  }
}
