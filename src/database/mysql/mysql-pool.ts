import { connect, type Socket } from 'node:net';
import { createPool, type Pool, type PoolOptions } from 'mysql2';

/**
 * READ COMMITTED: under REPEATABLE READ a plain read before the tree's lock would freeze a stale view. The lock wait is
 * a third of a unit's time, so that a unit that did not get the lock is still replayed.
 */
const SESSION = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
     innodb_lock_wait_timeout = 1`,
];

/** TypeORM's option `driver`: mysql2, with our settings on each connection. */
export class MysqlPool {
  #silenceMs = 0;
  readonly #sockets = new Set<Socket>();

  /** A property: TypeORM 0.3 takes a driver without any for an empty package, and loads mysql2 itself. */
  readonly createPool = (options: PoolOptions): Pool => {
    const pool = createPool({ ...options, stream: () => this.#connect(options) });
    pool.on('connection', (connection) => {
      // The pool listens for one error; a second one, as TLS has, would end the process.
      connection.on('error', () => undefined);
      // Statements on one connection run in order, so these come first.
      for (const sql of SESSION) {
        connection.query(sql, (error) => {
          if (error) connection.destroy();
        });
      }
    });
    return pool;
  };

  /**
   * From now on a connection on which nothing moves for so long is closed, in use or not: a server that hangs must not make
   * requests hang. mysql2's `timeout` of a query does not do it: it leaves the connection waiting in the pool.
   */
  limitSilence(milliseconds: number): void {
    this.#silenceMs = milliseconds;
    for (const socket of this.#sockets) socket.setTimeout(milliseconds);
  }

  #connect({ host = 'localhost', port = 3306 }: PoolOptions): Socket {
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    socket.setTimeout(this.#silenceMs);
    // With an error: without one mysql2 ends the TLS session of a socket that is gone, which is an error of its own.
    socket.on('timeout', () => socket.destroy(silent()));
    socket.on('close', () => this.#sockets.delete(socket));
    this.#sockets.add(socket);
    return socket;
  }
}

function silent(): Error {
  return Object.assign(new Error('The database server was silent for too long.'), { code: 'ETIMEDOUT' });
}
