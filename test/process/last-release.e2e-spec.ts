import { execFileSync, execSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../src/server/config/version';
import { ApiClient, mintToken, TEST_SECRET, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { freePort } from '../support/free-port';
import { runCli } from '../support/run-cli';
import { emptyDatabase } from '../support/test-database';

const ROOT = join(__dirname, '..', '..');

/** The newest tag of another version, or what LAST_RELEASE names. Before the first release there is none. */
function lastRelease(): string | undefined {
  const tags = execFileSync('git', ['tag', '--list', 'v*', '--sort=-v:refname'], { cwd: ROOT }).toString();
  return process.env.LAST_RELEASE ?? tags.split('\n').find((tag) => tag !== '' && tag !== `v${version}`);
}

/** Builds it with the packages of this version. */
function build(release: string, folder: string): void {
  execSync(`git archive ${release} | tar -x -C ${folder}`, { cwd: ROOT, stdio: 'pipe' });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execSync('npm run --silent build', { cwd: folder, stdio: 'pipe' });
}

describe('the last release beside this version', () => {
  const release = lastRelease();
  let folder: string;
  let database: ThrowAwayDatabase;

  beforeAll(async () => {
    database = await emptyDatabase();
    folder = release === undefined ? ROOT : mkdtempSync(join(tmpdir(), 'tenantry-last-release-'));
    if (release !== undefined) build(release, folder);
  });
  afterAll(async () => {
    await database.drop();
    if (folder !== ROOT) rmSync(folder, { recursive: true, force: true });
  });

  // Before the first release this version stands for it, too, as the next one will find it.
  it(`${release ?? 'the last release'} goes on serving on the schema of this version, or this version refuses to migrate`, async () => {
    const settings = {
      DATABASE_URL: database.url,
      JWT_SECRET: TEST_SECRET,
      ADMIN_PASSWORD: 'admin-password',
    };
    const PORT = String(await freePort());
    const main = [join(folder, 'dist', 'server', 'main.js')];
    const old = ChildService.spawn({ ...settings, PORT, SHUTDOWN_DRAIN_MS: '0' }, database.folder, main);
    await old.untilReady();
    // Its answers need not be those that the document of this version describes.
    const clients = [new ApiClient(old.anonymous.baseUrl)];
    const login = { username: 'admin', password: 'admin-password' };
    const signedIn = await clients[0]!.post('/auth/login', login);
    const before = await clients[0]!.as(mintToken()).post('/system/dept-api', { deptName: '升级前' });

    const migrated = await runCli(database, ['migrate']);
    const beside = migrated.code === 0 ? await ChildService.start(database) : undefined;
    if (beside) clients.push(beside.anonymous);
    else expect(migrated.err).toMatch(/must not run beside .* tenantry migrate --stopped/);

    let { refreshToken } = signedIn.body.data as { refreshToken: string };
    for (const client of clients) {
      const writer = client.as(mintToken());
      expect((await writer.get('/health/ready')).status).toBe(200);
      const made = await writer.post('/system/dept-api', { deptName: '升级时' });
      const path = made.headers.location!;
      expect((await writer.patch(path, { leader: '张三' })).status).toBe(200);
      for (const reader of clients)
        for (const { headers } of [before, made])
          expect((await reader.as(mintToken()).get(headers.location!)).status).toBe(200);
      const refreshed = await client.post('/auth/refresh', { refreshToken });
      expect(refreshed.status).toBe(200);
      ({ refreshToken } = refreshed.body.data as { refreshToken: string });
    }
    clients[0]!.close();
    expect(await old.stop()).toBe(0);
    if (beside) {
      expect(await beside.stop()).toBe(0);
      const { code, out } = await runCli(database, ['doctor']);
      expect([code, out]).toEqual([0, 'The database is sound.\n']);
    }
  });
});
