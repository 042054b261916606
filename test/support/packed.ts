import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..');

/** Runs a program and gives what it printed; what it complained about is in the error. */
export function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Packs what was built; gives the path of the tarball. The only script of a release that this leaves out is the build. */
export function packTarball(folder: string): string {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse(run('npm', args, ROOT)) as { filename: string }[];
  return join(folder, packed!.filename);
}

/** A copy of the example platform in a folder of its own. */
export function copyPlatform(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-platform-'));
  cpSync(join(ROOT, 'examples', 'platform'), folder, { recursive: true });
  return folder;
}

/**
 * Puts the packed package into a host's `node_modules`, beside links to everything that is installed here: no registry
 * is asked, and what the package does not bring is not there.
 */
export function installOffline(host: string): void {
  const modules = join(host, 'node_modules');
  mkdirSync(join(modules, 'tenantry'), { recursive: true });
  run('tar', ['-xzf', packTarball(host), '--strip-components=1', '-C', join(modules, 'tenantry')], host);
  const installed = join(ROOT, 'node_modules');
  for (const name of readdirSync(installed)) {
    if (!name.startsWith('.')) symlinkSync(join(installed, name), join(modules, name));
  }
}

/** Installs packages from the registry, or what the host's manifest names. Strict: what does not go together is refused. */
export function install(host: string, ...packages: string[]): void {
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  run('npm', ['install', '--strict-peer-deps', ...quiet, ...packages], host);
}

/** What is installed in a host: names of packages, and bytes of all files. */
export function installedIn(host: string): { packages: string[]; bytes: number } {
  const modules = join(host, 'node_modules');
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return { packages: Object.keys(packages), bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

export interface HostShape {
  readonly database: 'mysql' | 'mariadb' | 'postgres' | 'sqlite';
  /** Of its DataSource, on PostgreSQL. */
  readonly schema?: string;
  /** A global prefix, and versions in the path. */
  readonly routes?: boolean;
  /** Of its DataSource. */
  readonly name?: string;
  readonly snakeCase?: boolean;
  /** No HTTP. */
  readonly context?: boolean;
}

/** Runs `packed-host.cjs` in the folder of a host and gives what it printed. */
export function runHost(host: string, shape: HostShape & { type: string; url: string }): string {
  return runIn(host, 'packed-host.cjs', shape);
}

/** Runs a program of this folder in the folder of a host, with this argument, and gives what it printed. */
export function runIn(host: string, program: string, argument: object): string {
  cpSync(join(__dirname, program), join(host, program));
  return run(process.execPath, [program, JSON.stringify(argument)], host);
}

/** Compiles a host with the compiler of this project. */
export function compile(host: string): void {
  run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', host], host);
}
