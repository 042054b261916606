import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyPlatform, packTarball, run } from '../support/packed';
import { itIsAPlatform } from '../support/platform-rules';

describe('the example platform on TypeORM 0.3, from the registry and the tarball', () => {
  itIsAPlatform(() => {
    const host = copyPlatform();
    const file = join(host, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> };
    Object.assign(manifest.dependencies, { tenantry: `file:${packTarball(host)}`, typeorm: '^0.3.20' });
    writeFileSync(file, JSON.stringify(manifest));
    // Strict about peers: what does not go together is not installed.
    run('npm', ['install', '--no-audit', '--no-fund', '--strict-peer-deps', '--prefer-offline'], host);
    const { version } = JSON.parse(
      readFileSync(join(host, 'node_modules', 'typeorm', 'package.json'), 'utf8'),
    ) as { version: string };
    expect(version).toMatch(/^0\.3\./);
    return host;
  });
});
