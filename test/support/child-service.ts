import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiClient,
  type Caller,
  mintToken,
  TEST_SECRET,
  type ThrowAwayDatabase,
} from '../../src/server/testing';
import { checkConformance } from './conformance';
import { freePort } from './free-port';

const SERVER = join(__dirname, '..', '..', 'dist', 'server');
const MAIN = [join(SERVER, 'main.js')];
/** The same by the command line. */
export const SERVE = [join(SERVER, 'cli', 'main.js'), 'serve'];
/** Only bounds a hang. */
const START_MS = 100_000;

const children = new Set<ChildProcess>();
/** A test that failed may not have come to the stop of its service; Jest's own end calls nobody. */
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** The built service as a process of its own, the way it runs in production. */
export class ChildService {
  private constructor(
    readonly process: ChildProcess,
    readonly anonymous: ApiClient,
    private readonly output: string[],
  ) {}

  static async start(database: ThrowAwayDatabase, env: Record<string, string> = {}): Promise<ChildService> {
    const port = await freePort();
    const child = ChildService.spawn({
      DATABASE_URL: database.url,
      DATA_DIR: database.folder,
      JWT_SECRET: TEST_SECRET,
      ADMIN_PASSWORD: 'admin-password',
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'warn',
      SHUTDOWN_DRAIN_MS: '0',
      MAX_WAIT_MS: '60000',
      PORT: String(port),
      ...env,
    });
    await child.untilReady();
    return child;
  }

  /** Starts it with exactly these settings and does not wait. */
  static spawn(env: Record<string, string>, cwd = process.cwd(), program = MAIN): ChildService {
    const child = spawn(process.execPath, program, { cwd, env: { PATH: process.env.PATH, ...env } });
    const output: string[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    children.add(child);
    child.once('exit', () => children.delete(child));
    return new ChildService(
      child,
      new ApiClient(`http://127.0.0.1:${env.PORT ?? '3000'}`, {}, (exchange) => {
        checkConformance(exchange, env.HTTP_STATUS_MODE === 'always-200');
      }),
      output,
    );
  }

  get printed(): string {
    return this.output.join('');
  }

  /** The process ids of its workers, as Linux knows them. */
  get workers(): number[] {
    const { pid } = this.process;
    const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return ids === '' ? [] : ids.split(' ').map(Number);
  }

  as(caller: Caller = {}): ApiClient {
    return this.anonymous.as(mintToken(caller));
  }

  /** A client that stays on one connection, and so with one worker. */
  onOneConnection(): ApiClient {
    const { baseUrl } = this.anonymous;
    return new ApiClient(baseUrl, {}, checkConformance, new Agent({ keepAlive: true, maxSockets: 1 }));
  }

  async untilReady(): Promise<void> {
    const giveUp = Date.now() + START_MS;
    for (;;) {
      const answer = await this.anonymous.get('/health/ready').catch(() => null);
      if (answer?.status === 200) return;
      if (this.process.exitCode !== null || Date.now() > giveUp)
        throw new Error(`It did not start: ${this.printed}`);
      await sleep(50);
    }
  }

  async ended(): Promise<number | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      await new Promise((resolve) => this.process.once('exit', resolve));
    }
    return this.process.exitCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.process.kill(signal);
    const code = await this.ended();
    this.anonymous.close();
    return code;
  }
}
