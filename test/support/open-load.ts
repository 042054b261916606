import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 5;

export interface LoadRequest {
  readonly token: string;
  readonly path: string;
  /** Makes it a POST. */
  readonly body?: { readonly deptName: string };
}

/** Clients that share kept connections and send at a rate of their own, whatever the answers are. */
export class OpenLoad {
  /** How long each answer took, by its status. */
  readonly times: Record<number, number[]> = {};
  /** Connections that the server did not accept. */
  refused = 0;
  /** Requests on new connections that the server closed without reading: the names that they would have written. */
  readonly unread: (string | undefined)[] = [];
  /** Requests that broke off after the server may have read them. */
  readonly broken: string[] = [];
  readonly #agent: Agent;
  readonly #pending = new Set<Promise<void>>();
  #number = 0;
  #isOver = false;

  constructor(
    private readonly baseUrl: string,
    private readonly requestOf: (number: number) => LoadRequest,
    connections = 256,
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  get answered(): number {
    return this.times[200]?.length ?? 0;
  }

  /** As many requests a second as so many clients get answered that wait for each answer. */
  async peak(clients: number, milliseconds: number): Promise<number> {
    const end = Date.now() + milliseconds;
    const before = this.answered;
    const client = async (): Promise<void> => {
      while (Date.now() < end) await this.#send();
    };
    await Promise.all(Array.from({ length: clients }, client));
    return ((this.answered - before) * 1000) / milliseconds;
  }

  /** Sends so many a second until `end`, or for so many milliseconds. */
  async send(rate: number, milliseconds = Infinity): Promise<void> {
    const until = Date.now() + milliseconds;
    let [sent, begun] = [0, Date.now()];
    while (!this.#isOver && Date.now() < until) {
      // A client that could not keep up does not make up for all of it at once.
      if (((Date.now() - begun) * rate) / 1000 - sent > rate / 10) [sent, begun] = [0, Date.now()];
      for (; sent < ((Date.now() - begun) * rate) / 1000; sent += 1) {
        const one = this.#send().finally(() => this.#pending.delete(one));
        this.#pending.add(one);
      }
      await sleep(TICK_MS);
    }
  }

  /** Sends nothing more and waits for what is under way. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#pending);
    this.#agent.destroy();
  }

  #send(): Promise<void> {
    const { token, path, body } = this.requestOf((this.#number += 1));
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const options = { agent: this.#agent, headers, method: body ? 'POST' : 'GET' };
    let begun = performance.now();
    return new Promise((resolve) => {
      const fail = (what: string): void => {
        this.broken.push(`${options.method}: ${what}`);
        resolve();
      };
      const sent = request(`${this.baseUrl}${path}`, options, (response) => {
        response.resume();
        response.once('error', (error) => {
          fail(`cut off: ${error.message}`);
        });
        response.once('end', () => {
          (this.times[response.statusCode ?? 0] ??= []).push(performance.now() - begun);
          resolve();
        });
      });
      // What waits here for a connection is not the service's time.
      sent.once('socket', () => (begun = performance.now()));
      sent.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') this.refused += 1;
        else if (!sent.reusedSocket) this.unread.push(body?.deptName);
        else fail(`on a kept connection: ${error.message}`);
        resolve();
      });
      sent.end(body && JSON.stringify(body));
    });
  }
}

/** The time that this part of the answers took at most. */
export function quantile(times: readonly number[] = [], part = 0.99): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
