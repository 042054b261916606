import { fork } from 'node:child_process';
import { join } from 'node:path';

const GENERATOR = join(__dirname, 'load-generator.js');

/** Requests that are sent together: so many a second, of these in turn. */
export interface Stream {
  readonly name: string;
  readonly requests: readonly string[];
  /** A second; not for a closed load. */
  readonly rate?: number;
}

export interface Load {
  /** Closed: the next one when the answer is there. Open: when it is due. In turns: one stream after the other. */
  readonly mode: 'open' | 'closed' | 'turns';
  readonly port: number;
  readonly streams: readonly Stream[];
  readonly connections: number;
  /** Of the whole, or of each turn of each stream. */
  readonly seconds: number;
  /** How often each stream has its turn. */
  readonly rounds?: number;
}

export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

export interface StreamReport {
  readonly byStatus: Readonly<Record<string, number>>;
  /** Connections that ended without an answer. */
  readonly errors: number;
  readonly unsent: number;
  readonly good: Times;
  readonly refused: Times;
}

export interface LoadReport {
  readonly seconds: number;
  readonly streams: Readonly<Record<string, StreamReport>>;
}

/** Lets a process of its own make this load, and gives what it has counted. */
export function load({ port, ...task }: Load): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    const child = fork(GENERATOR, { stdio: 'inherit', execArgv: [] });
    child.once('message', (report) => {
      resolve(report as LoadReport);
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code !== 0) reject(new Error(`The load generator ended with ${code}.`));
    });
    child.send({ ...task, place: { port, host: '127.0.0.1' } });
  });
}

/** A request as it goes over the wire. */
export function wire(token: string, method: string, path: string, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`];
  if (text) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}
