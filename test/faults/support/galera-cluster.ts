import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { freePort, isFree } from '../../support/free-port';
import { until } from '../../support/until';
import { ask } from './node-state';

const run = promisify(execFile);
const SCRIPT = join(__dirname, '..', '..', '..', 'deploy', 'galera', 'cluster');
const PATIENCE_MS = 60_000;
export const NODES = [1, 2, 3] as const;
export type NodeNumber = (typeof NODES)[number];

export class GaleraCluster {
  private constructor(
    readonly folder: string,
    private readonly port: number,
    readonly url: string,
    readonly startMs: number,
  ) {
    // Whatever ends the test run ends the servers.
    process.once('exit', () => {
      for (const node of NODES) this.#signal(`node${node}/pid.launched`, 'SIGKILL');
      this.#signal('haproxy.pid', 'SIGKILL');
    });
  }

  static async start(): Promise<GaleraCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-galera-'));
    const port = await freePorts();
    const began = performance.now();
    await cluster(folder, port, 'start').catch(async (error: unknown) => {
      await cluster(folder, port, 'stop');
      throw error;
    });
    const startMs = performance.now() - began;
    return new GaleraCluster(folder, port, (await cluster(folder, port, 'url')).trim(), startMs);
  }

  async stop(): Promise<void> {
    await cluster(this.folder, this.port, 'stop');
  }

  urlOf(node: NodeNumber): string {
    const url = new URL(this.url);
    url.port = String(this.port + 10 * node);
    return url.href;
  }

  /** Where HAProxy sends who comes now. */
  async writer(): Promise<NodeNumber> {
    const [row] = await ask(this.url, 'SELECT @@wsrep_node_name AS name');
    return Number(String(row?.name).slice(-1)) as NodeNumber;
  }

  kill(node: NodeNumber): void {
    this.#signal(`node${node}/pid.launched`, 'SIGKILL');
  }

  freeze(node: NodeNumber): void {
    this.#signal(`node${node}/pid.launched`, 'SIGSTOP');
  }

  /** Cuts it off from the other nodes, but not from its clients. */
  async isolate(node: NodeNumber, isolated = true): Promise<void> {
    await this.#asRoot(node, `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isolated ? 1 : 0}'`);
  }

  async mend(node: NodeNumber, fault: 'kill' | 'freeze' | 'isolate'): Promise<void> {
    if (fault === 'kill') await cluster(this.folder, this.port, 'node', 'start', String(node));
    else if (fault === 'isolate') await this.isolate(node, false);
    else this.#signal(`node${node}/pid.launched`, 'SIGCONT');
  }

  /** Waits until the node is in the majority, has everything, and takes statements, as HAProxy asks it too. */
  async untilFit(node: NodeNumber): Promise<void> {
    const names = ['cluster_status', 'local_state', 'ready', 'cluster_size'];
    await until(
      async () => (await this.#statusOf(node, names).catch(() => '')) === `Primary,4,ON,${NODES.length}`,
    ).catch((cause: unknown) => {
      const log = readFileSync(join(this.folder, `node${node}`, 'node.log'), 'utf8').slice(-3000);
      throw new Error(`node${node} did not come back: ${log}`, { cause });
    });
  }

  /** Waits until every node has applied what the others have; nobody may write meanwhile. */
  async untilEqual(): Promise<void> {
    await until(async () => {
      const places = await Promise.all(NODES.map((node) => this.#statusOf(node, ['last_committed'])));
      return new Set(places).size === 1;
    });
  }

  async #statusOf(node: NodeNumber, names: readonly string[]): Promise<string> {
    const rows = await ask(this.urlOf(node), "SHOW STATUS LIKE 'wsrep_%'");
    const said = new Map(rows.map((row) => [String(row.Variable_name), String(row.Value)]));
    return names.map((name) => said.get(`wsrep_${name}`)).join();
  }

  async #asRoot(node: NodeNumber, sql: string): Promise<void> {
    const socketPath = join(this.folder, `node${node}`, 'socket');
    const connection = await createConnection({ user: 'root', socketPath });
    await connection.query(sql);
    await connection.end();
  }

  #signal(pidFile: string, signal: NodeJS.Signals): void {
    try {
      const pid = Number(readFileSync(join(this.folder, pidFile), 'utf8'));
      if (pid > 1) process.kill(pid, signal);
    } catch (error) {
      if (!['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/** A port that is free, together with those that the nodes take after it. */
async function freePorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    const taken = NODES.flatMap((node) => [0, 1, 2, 3].map((n) => port + 10 * node + n));
    if ((await Promise.all(taken.map(isFree))).every(Boolean)) return port;
  }
}

async function cluster(folder: string, port: number, ...args: string[]): Promise<string> {
  const env = { ...process.env, FOLDER: folder, PORT: String(port), BUFFER_POOL: '128M', GCACHE: '256M' };
  const { stdout } = await run(SCRIPT, args, { env, timeout: 2 * PATIENCE_MS });
  return stdout;
}
