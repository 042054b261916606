import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyPlatform, packTarball, run } from '../support/packed';
import { itIsAPlatform } from '../support/platform-rules';

interface Manifest {
  type?: string;
  version?: string;
  dependencies: Record<string, string>;
}

const HOSTS = [
  { nest: 11, type: 'commonjs' },
  { nest: 11, type: 'module' },
  { nest: 12, type: 'commonjs' },
  { nest: 12, type: 'module' },
];

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

describe.each(HOSTS)(
  'the example platform on Nest $nest ($type), from the registry and the tarball',
  ({ nest, type }) => {
    itIsAPlatform(() => {
      const host = copyPlatform();
      const file = join(host, 'package.json');
      const manifest = read(file);
      manifest.type = type;
      manifest.dependencies.tenantry = `file:${packTarball(host)}`;
      for (const name of Object.keys(manifest.dependencies)) {
        if (name.startsWith('@nestjs/')) manifest.dependencies[name] = `^${nest}.0.0`;
      }
      writeFileSync(file, JSON.stringify(manifest));
      // Strict about peers: what does not go together is not installed.
      run('npm', ['install', '--no-audit', '--no-fund', '--strict-peer-deps', '--prefer-offline'], host);
      const { version } = read(join(host, 'node_modules', '@nestjs', 'core', 'package.json'));
      expect(version?.split('.')[0]).toBe(String(nest));
      return host;
    });
  },
);
