import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const END_OF_CHUNKS = '\r\n0\r\n\r\n';

/** One keep-alive connection: a request is sent, its answer read to the end, and only then comes the next. */
class Connection {
  #head = '';
  /** Bytes that are still to come; infinite for an answer in chunks. */
  #left = 0;
  #tail = '';
  #done: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;

  private constructor(readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#take(chunk);
    });
    socket.on('close', () => {
      this.#fail(new Error('The server closed a connection.'));
    });
    socket.on('error', (error) => {
      this.#fail(error);
    });
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        resolve(new Connection(socket));
      }).once('error', reject);
    });
  }

  ask(request: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
      this.socket.write(request);
    });
  }

  #take(chunk: Buffer): void {
    if (this.#left > 0) this.#left -= chunk.length;
    else {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!/^HTTP\/1\.1 20[01] /.test(this.#head)) this.#fail(new Error(this.#head));
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? Infinity;
      this.#left = Number(length) - (this.#head.length - end - 4);
      this.#head = '';
    }
    this.#tail = (this.#tail + chunk.toString('latin1', chunk.length - END_OF_CHUNKS.length)).slice(
      -END_OF_CHUNKS.length,
    );
    if (this.#left === Infinity && this.#tail === END_OF_CHUNKS) this.#left = 0;
    if (this.#left === 0) this.#done();
  }
}

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** How many requests in all; or as long as this holds. */
  readonly requests: number | (() => boolean);
  readonly request: (connection: number, n: number) => string;
  /** Milliseconds from one request of a connection to its next; by default it comes at once. */
  readonly paceMs?: number;
}

/** Sends requests from this process; gives how long each took, in milliseconds. Anything but a 200 fails it. */
export async function load({ port, connections, requests, request, paceMs = 0 }: Load): Promise<number[]> {
  const took: number[] = [];
  let sent = 0;
  const goesOn = typeof requests === 'number' ? () => sent < requests : requests;
  const work = async (at: number): Promise<void> => {
    const connection = await Connection.open(port);
    let due = performance.now() + (paceMs * at) / connections;
    while (goesOn()) {
      // A request that is late because the one before it was slow has been waiting since it was due.
      const isLate = performance.now() > due;
      if (!isLate) await sleep(due - performance.now());
      const start = paceMs > 0 && isLate ? due : performance.now();
      await connection.ask(request(at, sent++));
      took.push(performance.now() - start);
      due += paceMs;
    }
    connection.socket.removeAllListeners('close').destroy();
  };
  await Promise.all(Array.from({ length: connections }, (_, at) => work(at)));
  return took;
}

/** A request as it goes over the wire. */
export function rawRequest(method: string, path: string, token: string, body?: unknown): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
  const about =
    body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${about}\r\n${text}`;
}
