import type { Socket } from 'node:net';
import type { DataSource } from 'typeorm';

const limits = new WeakMap<DataSource, SilenceLimit>();

/**
 * Closes connections of the service on which nothing moves for too long, in use or not: a server that hangs must not make
 * requests hang. The drivers' own time limits of a statement leave its connection waiting in the pool.
 */
export class SilenceLimit {
  #milliseconds = 0;
  readonly #sockets = new Set<Socket>();

  /** For the connections of this DataSource. */
  heldBy(dataSource: DataSource): DataSource {
    limits.set(dataSource, this);
    return dataSource;
  }

  watch(socket: Socket): Socket {
    socket.setTimeout(this.#milliseconds);
    // With an error: without one mysql2 ends the TLS session of a socket that is gone, which is an error of its own.
    socket.on('timeout', () => socket.destroy(silent()));
    socket.on('close', () => this.#sockets.delete(socket));
    this.#sockets.add(socket);
    return socket;
  }

  set(milliseconds: number): void {
    this.#milliseconds = milliseconds;
    for (const socket of this.#sockets) socket.setTimeout(milliseconds);
  }
}

/** From now on; a SQLite file has no connections that could be silent. */
export function limitSilence(dataSource: DataSource, milliseconds: number): void {
  limits.get(dataSource)?.set(milliseconds);
}

function silent(): Error {
  return Object.assign(new Error('The database server was silent for too long.'), { code: 'ETIMEDOUT' });
}
