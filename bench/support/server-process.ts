import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port';
import { cpuMs } from '../../test/support/process-cpu';
import { memoryMb } from '../../test/support/process-memory';

/** The major version of Node.js that servers run on. The image has this one. */
const NODE_MAJOR = process.env.NODE_MAJOR ?? '24';
const FETCH_NODE = join(__dirname, '..', '..', '.ci', 'fetch-node');
const START_MS = 30_000;
const POLL_MS = 5;

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

let node: string | undefined;

/** The program that runs servers; it is fetched where this process runs on another version. */
export function serverNode(): string {
  const isThis = process.versions.node.startsWith(`${NODE_MAJOR}.`);
  node ??= isThis
    ? process.execPath
    : join(execFileSync(FETCH_NODE, [NODE_MAJOR], { encoding: 'utf8' }).trim(), 'node');
  return node;
}

/** A server under measurement: a process of its own, with what the kernel has counted of it. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    /** From the start of the process to its first 200. */
    readonly readyMs: number,
  ) {}

  /** Runs a script with node and waits until it says that it is ready. */
  static async start(
    script: string,
    env: Readonly<Record<string, string>>,
    nodeOptions: readonly string[] = [],
  ): Promise<ServerProcess> {
    const port = await freePort();
    const began = performance.now();
    const child = spawn(serverNode(), [...nodeOptions, script], {
      // Away from any .env of whoever runs this.
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, NODE_ENV: 'production', HOST: '127.0.0.1', ...env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    while (!(await isReady(port))) {
      if (child.exitCode !== null || performance.now() - began > START_MS) {
        child.kill('SIGKILL');
        throw new Error(`${script} did not start.`);
      }
      await sleep(POLL_MS);
    }
    return new ServerProcess(child, port, performance.now() - began);
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** CPU time of all its threads so far, in milliseconds. */
  cpuMs(): number {
    return cpuMs(this.#pid);
  }

  /** Megabytes of memory: now, or at most since `forgetPeak`. */
  memoryMb(line: 'VmRSS' | 'VmHWM'): number {
    return memoryMb(this.#pid, line);
  }

  forgetPeak(): void {
    writeFileSync(`/proc/${this.#pid}/clear_refs`, '5');
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }

  get #pid(): number {
    return this.child.pid ?? 0;
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/health/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => {
      resolve(false);
    });
  });
}
