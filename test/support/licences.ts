import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** Licences that ask for nothing but to be named. */
const NAMES = '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT Python-2.0 Unlicense';
export const ALLOWED: ReadonlySet<string> = new Set(NAMES.split(' '));

export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

/** Every package that an installation without development packages may hold, on whatever machine. */
export function productionDependencies(): Dependency[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const found = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true)
    .map(([path, { version, license }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license ?? licenceIn(path),
    }));
  const key = ({ name, version }: Dependency): string => `${name}@${version}`;
  const once = new Map(found.map((each) => [key(each), each]));
  return [...once.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Old packages say it in other words, which npm does not write down. */
function licenceIn(path: string): string {
  const { licenses } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as {
    licenses?: { type: string }[];
  };
  if (licenses) return licenses.map(({ type }) => type).join(' OR ');
  const readme = readFileSync(join(ROOT, path, 'Readme.md'), 'utf8');
  return readme.includes('(The MIT License)') ? 'MIT' : 'unknown';
}

/** The text of docs/licences.md. */
export function licencesPage(): string {
  const dependencies = productionDependencies();
  const rows = dependencies.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  return [
    '# Licences',
    '',
    `Written by \`npm run licences\`: the ${dependencies.length} packages that an installation without development packages may hold,`,
    'peers and the binaries of other platforms included. Tenantry itself is under the [MIT licence](../LICENSE).',
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
