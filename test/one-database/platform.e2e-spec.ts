import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { copyPlatform, installOffline } from '../support/packed';
import { itIsAPlatform } from '../support/platform-rules';

describe('the example platform, with the packed package', () => {
  let files: string[];

  itIsAPlatform(() => {
    const host = copyPlatform();
    installOffline(host);
    files = readdirSync(join(host, 'node_modules', 'tenantry'), { recursive: true, encoding: 'utf8' });
    return host;
  });

  it('the package holds what was built and what documents it, and no tests', () => {
    const top = [...new Set(files.map((file) => file.split('/')[0]))].sort().join(' ');
    expect(top).toBe(
      '.env.example CHANGELOG.md CONTRIBUTING.md Dockerfile LICENSE README.md bench deploy dist docs examples package.json src',
    );
    const sources = files.filter((file) => /\.spec\.|^(src|test|bench)\/.*\.|\.tsbuildinfo$/.test(file));
    expect(sources.sort()).toEqual(['bench/results.md', 'src/server/package.json']);
    const needed = 'dist/index.d.ts dist/client/index.d.ts dist/server/testing.js docs/openapi.yaml'.split(
      ' ',
    );
    expect(files).toEqual(expect.arrayContaining(needed));
  });
});
