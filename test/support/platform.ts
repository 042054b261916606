import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/server/testing';
import { freePort } from './free-port';

/** Only bounds a hang. */
const START_MS = 100_000;
export const OPERATOR_KEY = 'the-key-of-the-operator';

/** The built example platform as a process. */
export class Platform {
  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    readonly anonymous: ApiClient,
  ) {}

  static async start(folder: string, url: string): Promise<Platform> {
    const port = String(await freePort());
    const env = { PATH: process.env.PATH, PORT: port, DATABASE_URL: url, OPERATOR_KEY };
    const child = spawn(process.execPath, ['dist/main.js'], { cwd: folder, env });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    }
    const platform = new Platform(folder, child, new ApiClient(`http://127.0.0.1:${port}`));
    const giveUp = Date.now() + START_MS;
    while (!(await platform.anonymous.get('/').catch(() => null))) {
      if (child.exitCode !== null || Date.now() > giveUp) throw new Error(output.join(''));
      await sleep(50);
    }
    return platform;
  }

  with(key: string): ApiClient {
    return this.anonymous.with({ 'x-api-key': key });
  }

  /** A new customer, and its administrator. */
  async signUp(company: string): Promise<{ tenantId: string; api: ApiClient }> {
    const answer = await this.anonymous.post('/sign-up', { company, email: `ada@${company}.example` });
    const { key, tenantId } = JSON.parse(answer.text) as { key: string; tenantId: string };
    return { tenantId, api: this.with(key) };
  }

  async stop(): Promise<void> {
    this.anonymous.close();
    if (this.process.exitCode === null) {
      this.process.kill('SIGTERM');
      await once(this.process, 'exit');
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}
