import type { Server, Socket } from 'node:net';
import { DeptService } from '../../src/dept/dept.service';
import { OverloadProtection } from '../../src/server/overload/overload-protection';
import { aDept, mintToken, type ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { ServiceUnderTest } from './service-under-test';
import { emptyDatabase } from './test-database';
import { until } from './until';
import { connectTo, type RawAnswer } from './wire';

/** Longer than any test: a test that is about the time sets its own. */
const LIMITS = { MAX_IN_WORK: '1', MAX_WAITING: '1', MAX_WAIT_MS: '60000' };
const PATH = '/system/dept-api';

/** A bare connection, whose bytes a test chooses. */
export interface Wire {
  readonly socket: Socket;
  send(line: string, headers?: string, body?: string): void;
  answer(): Promise<RawAnswer>;
}

/** A service with one place and one who waits, and a department to read in it. */
export class FullHouse {
  /** They are half-open: nobody else closes them. */
  readonly #wires: Socket[] = [];

  private constructor(
    readonly service: ServiceUnderTest,
    readonly api: ApiClient,
    /** Of the department. */
    readonly path: string,
    private readonly token: string,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<FullHouse> {
    return FullHouse.on(await emptyDatabase(), env);
  }

  static async on(database: ThrowAwayDatabase, env: Record<string, string> = {}): Promise<FullHouse> {
    const service = await ServiceUnderTest.on(database, { ...LIMITS, ...env });
    // Known to the service once it has been used: an unknown one belongs to nobody yet.
    const token = mintToken();
    const api = service.anonymous.as(token);
    return new FullHouse(service, api, `${PATH}/${await aDept(api)}`, token);
  }

  stop(): Promise<void> {
    for (const socket of this.#wires) socket.destroy();
    return this.service.stop();
  }

  /** Leaves its database to others. */
  leave(): Promise<void> {
    return this.service.leave();
  }

  get counts(): OverloadProtection['counts'] {
    return this.service.app.get(OverloadProtection).counts;
  }

  until(counts: Partial<OverloadProtection['counts']>): Promise<void> {
    const wanted = Object.entries(counts) as [keyof OverloadProtection['counts'], number][];
    return until(() => wanted.every(([name, count]) => this.counts[name] === count));
  }

  /** Connections that the server has not yet seen end. */
  connections(): Promise<number> {
    const server = this.service.app.getHttpServer() as Server;
    return new Promise((resolve) => {
      server.getConnections((_, count) => {
        resolve(count);
      });
    });
  }

  /** Keeps whoever reads a department in work until it is let go. */
  holding(): { calls: () => number; letGo: () => void } {
    const depts = this.service.app.get(DeptService);
    const get = depts.get.bind(depts);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const spy = jest.spyOn(depts, 'get').mockImplementation(async (...args) => {
      await held;
      return get(...args);
    });
    return {
      calls: () => spy.mock.calls.length,
      letGo: () => {
        spy.mockRestore();
        letGo();
      },
    };
  }

  /** One in work and one who waits: whoever comes now is refused, until this is called. */
  async fill(): Promise<() => Promise<void>> {
    const { letGo } = this.holding();
    const first = this.api.get(this.path);
    await this.until({ inWork: 1 });
    const second = this.api.get(this.path);
    await this.until({ waiting: 1 });
    return async () => {
      letGo();
      await Promise.all([first, second]);
    };
  }

  /** The head of a request, up to where further headers may stand. */
  head(line = `GET ${this.path}`): string {
    return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${this.token}\r\n`;
  }

  wire(): Wire {
    const { socket, answer } = connectTo(this.service.anonymous.baseUrl);
    this.#wires.push(socket);
    return {
      socket,
      send: (line, headers = '', body = '') => {
        socket.write(`${this.head(line)}${headers}\r\n${body}`);
      },
      answer,
    };
  }
}
