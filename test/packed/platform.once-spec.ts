import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ThrowAwayDatabase } from '../../src/testing';
import { compile, copyPlatform, installOffline } from '../support/packed';
import { Platform } from '../support/platform';
import { itIsAPlatform } from '../support/platform-rules';
import { emptyDatabase } from '../support/test-database';

describe('the example platform, with the packed package', () => {
  let database: ThrowAwayDatabase;
  let platform: Platform;
  let files: string[];

  beforeAll(async () => {
    const host = copyPlatform();
    installOffline(host);
    compile(host);
    files = readdirSync(join(host, 'node_modules', 'tenantry'), { recursive: true, encoding: 'utf8' });
    database = await emptyDatabase();
    platform = await Platform.start(host, database.url);
  });
  afterAll(async () => {
    await platform.stop();
    await database.drop();
  });

  itIsAPlatform(() => platform);

  it('holds what was built and what documents it, and no tests', () => {
    expect([...new Set(files.map((file) => file.split('/')[0]))].sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'package.json'].sort(),
    );
    expect(files.filter((file) => /\.spec\.|(^|\/)(src|test)\/|\.tsbuildinfo$/.test(file))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['dist/index.d.ts', 'dist/client.d.ts', 'dist/testing.js', 'docs/openapi.yaml']),
    );
  });
});
