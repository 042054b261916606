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

  it('holds what was built and what documents it, and no tests', () => {
    const top = [...new Set(files.map((file) => file.split('/')[0]))].sort().join(' ');
    expect(top).toBe('CHANGELOG.md LICENSE README.md dist docs package.json');
    expect(files.filter((file) => /\.spec\.|(^|\/)(src|test)\/|\.tsbuildinfo$/.test(file))).toEqual([]);
    const needed = 'dist/index.d.ts dist/client/index.d.ts dist/server/testing.js docs/openapi.yaml'.split(
      ' ',
    );
    expect(files).toEqual(expect.arrayContaining(needed));
  });
});
