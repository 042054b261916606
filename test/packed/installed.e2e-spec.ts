import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import {
  compile,
  copyPlatform,
  install,
  packTarball,
  runHost,
  runIn,
  type HostShape,
} from '../support/packed';
import { itIsAPlatform } from '../support/platform-rules';
import { urlOfServer } from '../support/server-of-run';

interface Manifest {
  version?: string;
  dependencies: Record<string, string>;
}

const PLATFORMS = [
  { nest: 11, type: 'commonjs', database: 'mysql' },
  { nest: 11, type: 'module', database: 'sqlite' },
  { nest: 12, type: 'commonjs', database: 'sqlite' },
  { nest: 12, type: 'module', database: 'mariadb' },
] as const;

const SHAPES: [string, HostShape, printed: string][] = [
  ['a prefix and URI versions', { database: 'mariadb', routes: true }, '/api/v1/system/dept-api/1 Sales\n'],
  ['a named DataSource', { database: 'mysql', name: 'platform' }, '/system/dept-api/1 Sales\n'],
  ['a snake-case naming strategy', { database: 'mysql', snakeCase: true }, '/system/dept-api/1 Sales\n'],
  ['an application context instead of HTTP', { database: 'sqlite', context: true }, 'context Sales\n'],
];

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

async function databaseOf(kind: HostShape['database']): Promise<ThrowAwayDatabase> {
  if (kind === 'sqlite') return throwAwayDatabase();
  const database = await throwAwayDatabase({ server: urlOfServer('mariadb') });
  return { ...database, url: database.url.replace('mysql:', `${kind}:`) };
}

const installed = new Map<number, string>();

/** A folder with what the example platform needs from the registry, and the tarball. */
function folderOf(nest: number): string {
  const known = installed.get(nest);
  if (known !== undefined) return known;
  const folder = copyPlatform();
  installed.set(nest, folder);
  const file = join(folder, 'package.json');
  const manifest = read(file);
  manifest.dependencies.tenantry = `file:${packTarball(folder)}`;
  for (const name of Object.keys(manifest.dependencies)) {
    if (name.startsWith('@nestjs/')) manifest.dependencies[name] = `^${nest}.0.0`;
  }
  for (const name of ['microservices', 'platform-fastify'])
    manifest.dependencies[`@nestjs/${name}`] = `^${nest}.0.0`;
  manifest.dependencies['@nestjs/cache-manager'] = nest === 11 ? '^3.0.0' : `^${nest}.0.0`;
  manifest.dependencies['cache-manager'] = '^7.0.0';
  writeFileSync(file, JSON.stringify(manifest));
  install(folder);
  const { version } = read(join(folder, 'node_modules', '@nestjs', 'core', 'package.json'));
  expect(version?.split('.')[0]).toBe(String(nest));
  return folder;
}

afterAll(() => {
  for (const folder of installed.values()) rmSync(folder, { recursive: true });
});

describe.each(PLATFORMS)(
  'the example platform on Nest $nest ($type, $database), from the registry and the tarball',
  ({ nest, type, database }) => {
    itIsAPlatform(
      () => {
        const host = copyPlatform();
        writeFileSync(join(host, 'package.json'), JSON.stringify({ type }));
        symlinkSync(join(folderOf(nest), 'node_modules'), join(host, 'node_modules'));
        return host;
      },
      () => databaseOf(database),
    );
  },
);

describe.each([
  { nest: 11, type: 'commonjs' },
  { nest: 12, type: 'module' },
])('a host on Nest $nest ($type)', ({ nest, type }) => {
  it.each(SHAPES)('a host works with %s', async (_, shape, printed) => {
    const { url, drop } = await databaseOf(shape.database);
    try {
      expect(runHost(folderOf(nest), { ...shape, type, url })).toBe(printed);
    } finally {
      await drop();
    }
  });

  it('a host works with messages over TCP, on Fastify without routes, and with a cache that knows the caller', async () => {
    const { url, drop } = await throwAwayDatabase();
    try {
      const refused =
        'Tenantry cannot start: CacheInterceptor stands before all routes and would give one caller the answers of another; give it a trackBy with the caller in its key, or use it on single controllers.';
      expect(runIn(folderOf(nest), 'packed-neighbours.cjs', { type, url }).trim().split('\n')).toEqual([
        'message: Internal server error',
        'message: Internal server error',
        'message: TOKEN_MISSING',
        'message: ann member',
        expect.stringMatching(/^Fastify: 401 .*TOKEN_MISSING/),
        'Fastify: 201 {"code":7,"username":"eve"}',
        'Fastify: 201 {"code":0,"username":"eve"}',
        expect.stringMatching(/^Fastify: 409 .*QUOTA_EXCEEDED/),
        `cache: ${refused}`,
        'cache: it starts',
      ]);
    } finally {
      await drop();
    }
  });
});

it('a host on Nest 12 compiles with the module system of Node 16, and with all declarations checked', () => {
  const folder = folderOf(12);
  install(folder, '@types/express');
  const host = copyPlatform();
  writeFileSync(join(host, 'package.json'), '{"type":"module"}');
  symlinkSync(join(folder, 'node_modules'), join(host, 'node_modules'));
  const options = join(host, 'tsconfig.json');
  const text = readFileSync(options, 'utf8').replace('"nodenext"', '"node16"');
  writeFileSync(options, text.replace('"skipLibCheck": true', '"skipLibCheck": false'));
  compile(host);
  rmSync(host, { recursive: true });
});
