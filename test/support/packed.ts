import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
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

/** Packs what was built; gives the path of the tarball. */
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

/** Compiles a host with the compiler of this project. */
export function compile(host: string): void {
  run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', host], host);
}
