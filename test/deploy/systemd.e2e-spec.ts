import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, TEST_SECRET } from '../../src/server/testing';
import { ROOT, run, withPrograms } from '../support/deploy-tools';
import { freePort } from '../support/free-port';
import { until } from '../support/until';

const UNIT = readFileSync(join(ROOT, 'deploy', 'systemd', 'tenantry.service'), 'utf8');
const valuesOf = (name: string) =>
  [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);
/** The worst of three words that systemd has for a service that may do too much is above this, of ten. */
const MOST_EXPOSED = 20;

describe('deploy/systemd', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-systemd-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('the command of the unit starts the service with the settings of the unit, and SIGTERM ends it with 0', async () => {
    const [program, file] = valuesOf('ExecStart')[0]!.split(' ');
    expect([program, valuesOf('WorkingDirectory')]).toEqual(['/usr/bin/node', ['/opt/tenantry']]);
    const settings = valuesOf('Environment').map(
      (pair) => pair.split(/=(.*)/).slice(0, 2) as [string, string],
    );
    const secrets: Record<string, string> = {
      'jwt-secret': TEST_SECRET,
      'admin-password': 'admin-password',
      'database-url': `sqlite:${join(folder, 'tenantry.sqlite')}`,
    };
    expect(valuesOf('LoadCredential').map((each) => each.split(':')[0])).toEqual(Object.keys(secrets));
    // Credentials are files; here they are given as they are.
    const env = settings.map(([name, value]) => {
      const credential = secrets[value.replace('%d/', '')];
      return credential === undefined ? [name, value] : [name.replace('_FILE', ''), credential];
    });
    const PORT = String(await freePort());
    const given = { ...(Object.fromEntries(env) as Record<string, string>), PORT, DATA_DIR: folder };
    const service = spawn(process.execPath, [file!.replace('/opt/tenantry', ROOT)], {
      env: given,
      cwd: folder,
    });
    const api = new ApiClient(`http://127.0.0.1:${PORT}`);
    await until(async () => (await api.get('/health/ready').catch(() => null))?.status === 200);
    api.close();
    service.kill('SIGTERM');
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  withPrograms(['systemd-analyze'], () => {
    it('systemd understands the unit, and calls the service well protected', async () => {
      const path = join(folder, 'tenantry.service');
      // The program must be there.
      writeFileSync(path, UNIT.replace('/usr/bin/node', process.execPath));
      expect(await run('systemd-analyze', ['verify', path])).toBe('');
      await run('systemd-analyze', ['security', '--offline=yes', `--threshold=${MOST_EXPOSED}`, path]);
    });
  });
});
