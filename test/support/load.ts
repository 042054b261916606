import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What makes the load of fault tests and of the bench: bare sockets and prepared texts, which take little from the machine. */

const END_OF_CHUNKS = '\r\n0\r\n\r\n';
/** A client that is further behind does not make up for it at once. */
const MOST_BEHIND_MS = 100;

/** A request as it goes over the wire. */
export function rawRequest(method: string, path: string, token: string, body?: unknown): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
  const about =
    body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${about}\r\n${text}`;
}

/** Why a request has no answer: no connection, one that ended before its first answer, or one that broke off later. */
type Loss = 'refused' | 'unread' | 'broken';

class LostRequest extends Error {
  constructor(readonly why: Loss) {
    super(`A request was lost: ${why}.`);
  }
}

/** One keep-alive connection: a request is sent, its answer read to the end, and only then comes the next. */
class Connection {
  /** Whether the server takes another request on it. */
  isOpen = true;
  readonly socket: Socket;
  #head = '';
  #status = 0;
  /** Bytes that are still to come; infinite for an answer in chunks. */
  #left = 0;
  #tail = '';
  #loss: Loss = 'unread';
  #done: (status: number) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.socket.on('data', (chunk) => {
      this.#take(chunk);
    });
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') this.#loss = 'refused';
    });
    this.socket.on('end', () => (this.isOpen = false));
    this.socket.on('close', () => {
      this.isOpen = false;
      this.#fail(new LostRequest(this.#loss));
    });
  }

  /** Gives the status of the answer. */
  ask(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
      this.socket.write(request);
    });
  }

  #take(chunk: Buffer): void {
    this.#loss = 'broken';
    if (this.#left > 0) this.#left -= chunk.length;
    else {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#head.slice(0, end);
      this.#status = Number(head.slice('HTTP/1.1 '.length).slice(0, 3));
      if (/\r\nconnection: close/i.test(head)) this.isOpen = false;
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Infinity;
      this.#left = Number(length) - (this.#head.length - end - 4);
      this.#head = '';
    }
    this.#tail = (this.#tail + chunk.toString('latin1', chunk.length - END_OF_CHUNKS.length)).slice(
      -END_OF_CHUNKS.length,
    );
    if (this.#left === Infinity && this.#tail === END_OF_CHUNKS) this.#left = 0;
    if (this.#left === 0) this.#done(this.#status);
  }
}

export interface ClosedLoad {
  readonly port: number;
  readonly connections: number;
  /** How many requests in all; or as long as this holds. */
  readonly requests: number | (() => boolean);
  readonly request: (connection: number, n: number) => string;
  /** Whether refusals count as answers. */
  readonly takesRefusals?: boolean;
  /** Milliseconds from one request of a connection to its next; by default it comes at once. */
  readonly paceMs?: number;
}

/** Each connection sends its next request when it has its answer. Gives how long each took; a refusal fails it, unless it is taken. */
export async function closedLoad(load: ClosedLoad): Promise<number[]> {
  const { port, connections, requests, request, takesRefusals = false, paceMs = 0 } = load;
  const took: number[] = [];
  let sent = 0;
  const goesOn = typeof requests === 'number' ? () => sent < requests : requests;
  const work = async (at: number): Promise<void> => {
    const connection = new Connection(port);
    await once(connection.socket, 'connect');
    let due = performance.now() + (paceMs * at) / connections;
    while (goesOn()) {
      // A request that is late because the one before it was slow has been waiting since it was due.
      const isLate = performance.now() > due;
      if (!isLate) await sleep(due - performance.now());
      const start = paceMs > 0 && isLate ? due : performance.now();
      const text = request(at, sent++);
      const status = await connection.ask(text);
      if (status !== 200 && status !== 201 && !takesRefusals)
        throw new Error(`${status}: ${text.split('\r\n', 1).join()}`);
      took.push(performance.now() - start);
      due += paceMs;
    }
    connection.socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, (_, at) => work(at)));
  return took;
}

interface Times {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

export interface LoadReport {
  readonly byStatus: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly unsent: number;
  readonly good: Times;
  readonly refused: Times;
}

/** Clients that share kept connections and send at a rate of their own, whatever the answers are. */
export class OpenLoad {
  /** What was answered: when it was due, and when the answer was there. */
  readonly answers: { readonly status: number; readonly due: number; readonly at: number }[] = [];
  readonly lost: { readonly why: Loss; readonly request: string }[] = [];
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  /** Requests for which no connection is free. */
  readonly #waiting: (() => void)[] = [];
  #pending = 0;
  #number = 0;
  #isOver = false;

  constructor(
    private readonly port: number,
    private readonly request: (n: number) => string,
    private readonly maxConnections: number,
  ) {}

  /** Sends so many a second until `end`, or for so many milliseconds. */
  async send(rate: number, milliseconds = Infinity): Promise<void> {
    const until = performance.now() + milliseconds;
    let [sent, begun] = [0, performance.now()];
    const due = (): number => begun + ((sent + 1) * 1000) / rate;
    while (!this.#isOver && performance.now() < until) {
      if (performance.now() - due() > MOST_BEHIND_MS) [sent, begun] = [0, performance.now()];
      for (; due() <= performance.now(); sent += 1) void this.#send(due());
      await sleep(1);
    }
  }

  /** Sends nothing more, and waits for what is under way; at most for so long. */
  async end(milliseconds = Infinity): Promise<void> {
    this.#isOver = true;
    const giveUp = performance.now() + milliseconds;
    while (this.#pending > 0 && performance.now() < giveUp) await sleep(5);
    for (const { socket } of this.#connections) socket.destroy();
  }

  /** Of the requests that were due from then on. */
  report(since = 0): LoadReport {
    const answers = this.answers.filter(({ due }) => due >= since);
    const byStatus: Record<string, number> = {};
    for (const { status } of answers) byStatus[status] = (byStatus[status] ?? 0) + 1;
    return {
      byStatus,
      lost: this.lost.length,
      unsent: this.#waiting.length,
      good: timesOf(answers.filter(({ status }) => status === 200)),
      refused: timesOf(answers.filter(({ status }) => status !== 200)),
    };
  }

  async #send(due: number): Promise<void> {
    const request = this.request(this.#number++);
    this.#pending += 1;
    const connection = await this.#connection();
    try {
      const status = await connection.ask(request);
      this.answers.push({ status, due, at: performance.now() });
    } catch (error) {
      this.lost.push({ why: (error as LostRequest).why, request });
    }
    this.#pending -= 1;
    if (connection.isOpen) this.#idle.push(connection);
    else this.#drop(connection);
    this.#waiting.shift()?.();
  }

  async #connection(): Promise<Connection> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle?.isOpen) return idle;
      if (idle) this.#drop(idle);
      else if (this.#connections.size < this.maxConnections) {
        const opened = new Connection(this.port);
        this.#connections.add(opened);
        return opened;
      } else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #drop(connection: Connection): void {
    this.#connections.delete(connection);
    connection.socket.destroy();
  }
}

function timesOf(answers: readonly { readonly due: number; readonly at: number }[]): Times {
  const sorted = Float64Array.from(answers, ({ due, at }) => at - due).sort();
  const { length } = sorted;
  const most = sorted[length - 1] ?? 0;
  const at = (part: number): number => sorted[Math.floor(length * part)] ?? most;
  return { count: length, median: at(0.5), p99: at(0.99), most };
}
