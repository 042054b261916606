import type { Socket } from 'node:net';
import { createPool, type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import { NOT_WAITED_FOR } from '../retry-policy';
import { Pulse, type PulseState } from './pulse';

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

/** How long a connection is waited for when all are taken. */
const WAIT_MS = 2000;

type Acquired = Parameters<Pool['getConnection']>[0];

/** The part of the mysql2 module that TypeORM's driver calls, with our settings on each connection. */
export class MysqlPool {
  #limitMs: number | undefined;
  #pulse: Pulse | undefined;
  readonly #connections = new Set<PoolConnection>();

  createPool(options: PoolOptions): Pool {
    const pool = createPool(options);
    pool.on('connection', (connection) => {
      this.#prepare(connection);
    });
    let enqueued = 0;
    pool.on('enqueue', () => {
      enqueued += 1;
    });
    // Not the pool's event `acquire`: a connection that is handed on to somebody who waits does not cause it.
    const getConnection = pool.getConnection.bind(pool);
    pool.getConnection = (done) => {
      if (this.pulse === 'lost') {
        process.nextTick(done, unavailable('The database server has stopped answering.'));
        return;
      }
      const before = enqueued;
      const settle = this.#settling(done);
      getConnection(settle.take);
      if (enqueued > before) settle.giveUpLater();
    };
    pool.on('release', (connection) => {
      streamOf(connection).setTimeout(0);
    });
    this.#takePulse(pool, options);
    return pool;
  }

  /** Whether the server answers, as far as it is asked. */
  get pulse(): PulseState {
    return this.#pulse?.state ?? 'well';
  }

  /**
   * From now on a connection that is held is cut when nothing has moved on it for so long: a server that hangs must not make
   * everybody hang. A unit whose statements are answered may take longer.
   */
  limitHolding(milliseconds: number): void {
    this.#limitMs = milliseconds;
  }

  /** From now on it is known when the server hangs; then nobody waits for it until it is back. */
  watchServer(): void {
    this.#pulse?.start();
  }

  #prepare(connection: PoolConnection): void {
    this.#connections.add(connection);
    streamOf(connection).on('timeout', () => {
      cut(connection);
    });
    connection.on('end', () => this.#connections.delete(connection));
    connection.on('error', () => this.#connections.delete(connection));
    // TypeORM asks for it with every statement, and mysql2 would look its file up and make a new one each time.
    const promised = connection.promise();
    connection.promise = () => promised;
    // Queries on one connection run in order, so these come before whatever the caller asks.
    for (const sql of SESSION) {
      connection.query(sql, (error) => {
        if (error) connection.destroy();
      });
    }
  }

  /** Gives a connection, or after a while the news that none was free; then it goes back when it comes. */
  #settling(done: Acquired): { take: Acquired; giveUpLater: () => void } {
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const take: Acquired = (error, connection) => {
      clearTimeout(timer);
      if (isOver) {
        if (!error) connection.release();
        return;
      }
      if (!error) streamOf(connection).setTimeout(this.#limitMs ?? 0);
      done(error, connection);
    };
    const giveUpLater = (): void => {
      timer = setTimeout(() => {
        isOver = true;
        done(unavailable('No connection of the pool became free in time.'), undefined as never);
      }, WAIT_MS);
    };
    return { take, giveUpLater };
  }

  #takePulse(pool: Pool, options: PoolOptions): void {
    const { host, port, user, password, database, ssl } = options;
    const place = { host, port, user, password, database, ...(ssl !== undefined && { ssl }) };
    const pulse = new Pulse(place as PoolOptions, () => {
      // Those that rest too: what was sent on them may never have arrived.
      for (const connection of this.#connections) cut(connection);
    });
    this.#pulse = pulse;
    const end = pool.end.bind(pool) as (done?: (error: NodeJS.ErrnoException | null) => void) => void;
    pool.end = (done) => {
      pulse.stop();
      end(done);
    };
  }
}

/** Not `connection.destroy()`: that one leaves the query that is waiting without an answer. */
function cut(connection: PoolConnection): void {
  streamOf(connection).destroy();
}

function streamOf(connection: PoolConnection): Socket {
  return (connection as unknown as { stream: Socket }).stream;
}

function unavailable(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: NOT_WAITED_FOR });
}
