import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from './deploy-tools';
import { until } from './until';

interface Config {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

const containers = new Set<Container>();
/** A test that failed may not have come to the stop of its container; the image is removed after this. */
export async function stopAll(): Promise<void> {
  for (const container of containers) await container.stop('SIGKILL');
}

/** As a container engine starts it: process 1 of its own, a read-only root, and a volume of the user `node`. */
const ENTER = `
mount --make-rprivate /
mount --bind "$0" "$0"
mount --rbind /dev "$0/dev"
mount -t proc proc "$0/proc"
mount -t tmpfs -o uid=1000,gid=1000 tmpfs "$0/data"
mount -o remount,bind,ro "$0"
folder=$1 user=$2
shift 2
exec chroot --userspec="$user" "$0" env -i -C "$folder" "$@"`;

/** The image of the Dockerfile, built by buildah on a base that was made here. */
export class BuiltImage {
  private constructor(
    private readonly storage: string,
    readonly root: string,
    readonly baseRoot: string,
    readonly config: Config,
  ) {}

  static async build(): Promise<BuiltImage> {
    const storage = mkdtempSync(join(tmpdir(), 'tenantry-image-'));
    const buildah = async (...args: string[]) => {
      const where = ['--storage-driver', 'vfs', '--root', storage, '--runroot', join(storage, 'run')];
      return (await run('buildah', [...where, ...args])).trim();
    };
    await run('bash', [join(ROOT, '.ci', 'base-image'), storage]);
    const [, base = ''] = /^FROM (\S+)/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
    await buildah('build', '--isolation', 'chroot', '--format', 'docker', '--tag', 'tenantry', '.');
    const mounted = async (image: string) =>
      buildah('mount', await buildah('from', '--pull-never', '--quiet', image));
    const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'tenantry')) as {
      Docker: { config: Config };
    };
    return new BuiltImage(storage, await mounted('tenantry'), await mounted(base), Docker.config);
  }

  /** What it adds to its base, on the disk. */
  async megabytes(): Promise<number> {
    const [whole, base] = await Promise.all(
      [this.root, this.baseRoot].map(async (folder) => Number.parseInt(await run('du', ['-sm', folder]))),
    );
    return whole! - base!;
  }

  async start(settings: Record<string, string>): Promise<Container> {
    const { User, WorkingDir, Env, Entrypoint, Cmd } = this.config;
    const more = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    const command = [WorkingDir, User, ...Env, ...more, ...Entrypoint, ...Cmd];
    const apart = ['--mount', '--pid', '--fork', '--kill-child'];
    const parent = spawn('unshare', [...apart, 'sh', '-ec', ENTER, this.root, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const container = new Container(parent);
    await until(() => container.hasBegun || parent.exitCode !== null);
    return container;
  }

  async remove(): Promise<void> {
    await run('rm', ['-rf', this.storage]);
  }
}

export class Container {
  #printed = '';

  constructor(private readonly parent: ChildProcess) {
    for (const stream of [parent.stdout, parent.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()));
    containers.add(this);
    parent.once('exit', () => containers.delete(this));
  }

  get printed(): string {
    return this.#printed;
  }

  /** Its first process, as this machine numbers it. */
  get #first(): number {
    return childrenOf(this.parent.pid!)[0] ?? 0;
  }

  get hasBegun(): boolean {
    return nameOf(this.#first) === 'tini';
  }

  /** The ids of users of its processes. */
  get users(): string[] {
    return [this.#first, ...childrenOf(this.#first)].map(
      (pid) => /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!,
    );
  }

  /** Its processes that have ended and that nobody has asked about. */
  get zombies(): number[] {
    return childrenOf(this.#first).filter((pid) =>
      /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')),
    );
  }

  exec(...command: string[]): Promise<string> {
    return run('nsenter', ['--target', String(this.#first), '--all', '--root', '--wd', ...command]);
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const first = this.#first;
    // To a signal, 0 is all processes of the test.
    if (first === 0) throw new Error(`It has ended: ${this.printed}`);
    const ended = once(this.parent, 'exit') as Promise<[number | null]>;
    process.kill(first, signal);
    return (await ended)[0];
  }
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

function nameOf(pid: number): string | undefined {
  const file = `/proc/${pid}/comm`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
