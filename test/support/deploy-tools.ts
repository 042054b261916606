import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const ROOT = join(__dirname, '..', '..');
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];

const whereIs = (name: string) =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** Stands for the rights of root among the programs that a test needs. */
export const AS_ROOT = 'the rights of root';

/** Defines tests that need these programs. Where one is missing they are left out; with REQUIRE_DEPLOY_TOOLS=1 that fails. */
export function withPrograms(names: readonly string[], define: () => void): void {
  const isThere = (name: string) =>
    name === AS_ROOT ? process.getuid?.() === 0 : whereIs(name) !== undefined;
  const missing = names.filter((name) => !isThere(name));
  if (missing.length === 0) define();
  else if (process.env.REQUIRE_DEPLOY_TOOLS === '1') throw new Error(`Not there: ${missing.join(', ')}`);
  else it(`left out, because these are not there: ${missing.join(', ')}`, () => undefined);
}

/** What a program printed; when it fails, that is the message. */
export async function run(name: string, args: readonly string[], cwd = ROOT): Promise<string> {
  const path = whereIs(name);
  if (path === undefined) throw new Error(`${name} is not installed.`);
  try {
    const { stdout, stderr } = await promisify(execFile)(path, args, { cwd, maxBuffer: 64 * 1024 ** 2 });
    return stdout + stderr;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error([message, stdout, stderr].join('\n'), { cause: error });
  }
}
