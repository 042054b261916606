import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ThrowAwayDatabase } from '../../src/testing';
import { compile, copyPlatform, packTarball, run } from '../support/packed';
import { Platform } from '../support/platform';
import { itIsAPlatform } from '../support/platform-rules';
import { emptyDatabase } from '../support/test-database';

interface Manifest {
  type?: string;
  dependencies: Record<string, string>;
}

/** What each generation of Nest goes with, and how its hosts are written. */
const HOSTS = [
  { nest: 11, type: 'commonjs' },
  { nest: 11, type: 'module' },
  { nest: 12, type: 'commonjs' },
  { nest: 12, type: 'module' },
];

describe.each(HOSTS)(
  'the example platform on Nest $nest ($type), from the registry and the tarball',
  ({ nest, type }) => {
    let database: ThrowAwayDatabase;
    let platform: Platform;

    beforeAll(async () => {
      const host = copyPlatform();
      const file = join(host, 'package.json');
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
      manifest.type = type;
      manifest.dependencies.tenantry = `file:${packTarball(host)}`;
      for (const name of Object.keys(manifest.dependencies)) {
        if (name.startsWith('@nestjs/')) manifest.dependencies[name] = `^${nest}.0.0`;
      }
      writeFileSync(file, JSON.stringify(manifest));
      // Strict about peers: what does not go together is not installed.
      run('npm', ['install', '--no-audit', '--no-fund', '--strict-peer-deps', '--prefer-offline'], host);
      const installed = JSON.parse(
        readFileSync(join(host, 'node_modules', '@nestjs', 'core', 'package.json'), 'utf8'),
      ) as { version: string };
      expect(installed.version.split('.')[0]).toBe(String(nest));
      run('npm', ['ls', '@nestjs/common', 'typeorm'], host);
      compile(host);
      database = await emptyDatabase();
      platform = await Platform.start(host, database.url);
    });
    afterAll(async () => {
      await platform.stop();
      await database.drop();
    });

    itIsAPlatform(() => platform);
  },
);
