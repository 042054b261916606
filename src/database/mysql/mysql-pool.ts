import { connect } from 'node:net';
import { createPool, type Pool, type PoolOptions } from 'mysql2';
import type { SilenceLimit } from '../silence-limit';
import { SESSION } from './mysql.dialect';

/** TypeORM's option `driver`: mysql2, with our settings on each connection. */
export class MysqlPool {
  constructor(private readonly silence: SilenceLimit) {}

  /** A property: TypeORM 0.3 takes a driver without any for an empty package, and loads mysql2 itself. */
  readonly createPool = (options: PoolOptions): Pool => {
    const { host = 'localhost', port = 3306 } = options;
    const stream = () => this.silence.watch(connect({ host, port, noDelay: true, keepAlive: true }));
    const pool = createPool({ ...options, stream });
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
}
