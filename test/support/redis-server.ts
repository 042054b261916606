import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port';

const REDIS = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path));
/** Only bounds a hang. */
const START_MS = 60_000;

export const redisIsInstalled = REDIS !== undefined;

/** A Redis on loopback that keeps nothing, for tests that let it die and come back. */
export class RedisServer {
  #process: ChildProcess | undefined;

  private constructor(private readonly port: number) {
    // Whatever ends the test run ends the server.
    process.once('exit', () => this.#process?.kill('SIGKILL'));
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.revive();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async revive(): Promise<void> {
    if (REDIS === undefined) throw new Error('redis-server is not installed (Debian: redis-server).');
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#process = spawn(REDIS, settings, { stdio: 'ignore' });
    const giveUp = Date.now() + START_MS;
    while (!(await this.#answers())) {
      if (Date.now() > giveUp) throw new Error('Redis did not start.');
      await sleep(20);
    }
  }

  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#process?.once('exit', resolve));
    this.#process?.kill('SIGKILL');
    await ended;
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => {
        resolve(false);
      });
    });
  }
}
