import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/server/testing';

const DEPTS = '/system/dept-api';
const TICK_MS = 5;
/** Every third request writes. */
const WRITES = 3;

/**
 * What became of a request: `refused` and `unread` never reached the service (nobody listens, or nobody took the new
 * connection any more); everything else but `answered` is a failure of the service.
 */
export interface Outcomes {
  answered: number;
  refused: number;
  /** Names that writes of the kind would have left. */
  readonly unread: string[];
  readonly failed: string[];
}

/** Clients that share kept connections and send at a rate of theirs, whatever becomes of it. */
export class OpenLoad {
  readonly outcomes: Outcomes = { answered: 0, refused: 0, unread: [], failed: [] };
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #token = mintToken();
  readonly #pending = new Set<Promise<void>>();
  #number = 0;
  #isOver = false;

  constructor(
    private readonly baseUrl: string,
    private readonly label: string,
    private readonly deptId: number,
  ) {}

  /** As many requests a second as so many clients get answered that wait for each answer. */
  async peak(clients: number, milliseconds: number): Promise<number> {
    const end = Date.now() + milliseconds;
    const before = this.outcomes.answered;
    const client = async (): Promise<void> => {
      while (Date.now() < end) await this.#send();
    };
    await Promise.all(Array.from({ length: clients }, client));
    return ((this.outcomes.answered - before) * 1000) / milliseconds;
  }

  /** Sends so many a second until it is told to stop. */
  async send(rate: number): Promise<void> {
    let [sent, begun] = [0, Date.now()];
    while (!this.#isOver) {
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
    const number = (this.#number += 1);
    const writes = number % WRITES === 0;
    const name = `${this.label} ${number}`;
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const options = { agent: this.#agent, headers, method: writes ? 'POST' : 'GET' };
    const url = `${this.baseUrl}${DEPTS}${writes ? '' : `/${this.deptId}`}`;
    return new Promise((resolve) => {
      const fail = (what: string): void => {
        this.outcomes.failed.push(`${options.method}: ${what}`);
        resolve();
      };
      const sent = request(url, options, (response) => {
        response.resume();
        response.once('error', (error) => {
          fail(`cut off: ${error.message}`);
        });
        response.once('end', () => {
          if (response.statusCode !== 200) fail(`status ${response.statusCode}`);
          else this.outcomes.answered += 1;
          resolve();
        });
      });
      sent.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') this.outcomes.refused += 1;
        else if (!sent.reusedSocket) this.outcomes.unread.push(name);
        else fail(`on a kept connection: ${error.message}`);
        resolve();
      });
      sent.end(writes ? JSON.stringify({ deptName: name }) : undefined);
    });
  }
}
