/** Builds when a source is newer than the last build that succeeded, which leaves the file `dist/.built`. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = import.meta.dirname;
const SOURCE = /^(src|package\.json|nest-cli\.json|declarations\.mjs|tsconfig.*\.json)$/;

const timeOf = (path) => statSync(join(ROOT, path)).mtimeMs;
// With the folders: a file that was removed is seen by them alone.
const below = (path) =>
  path === 'src' ? readdirSync(join(ROOT, path), { recursive: true }).map((name) => join(path, name)) : [];
const sources = readdirSync(ROOT)
  .filter((name) => SOURCE.test(name))
  .flatMap((path) => [path, ...below(path)]);

const built = existsSync(join(ROOT, 'dist', '.built')) ? timeOf('dist/.built') : 0;
const newer = sources.find((path) => timeOf(path) > built);
if (newer !== undefined) {
  process.stderr.write(`Building: ${built === 0 ? 'nothing is built yet' : `${newer} has changed`}.\n`);
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
  process.exit(status ?? 1);
}
