import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { install, installedIn, packTarball, ROOT, run, runHost } from '../support/packed';
import { urlOfServer } from '../support/server-of-run';

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: Record<string, { optional: boolean }>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const service = JSON.parse(readFileSync(join(ROOT, 'src', 'server', 'package.json'), 'utf8')) as Manifest;
const NEST = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@11`);
const CLI = 'node_modules/.bin/tenantry';
/** What the guide tells a platform on Nest to install. */
const [, LINE = ''] = /^npm i tenantry (.*)$/m.exec(
  readFileSync(join(ROOT, 'docs', 'embedding.md'), 'utf8'),
)!;

/** The message of an error, which Node.js prints below the line of code and the command line prints alone. */
function sentenceIn({ stderr }: { stderr: string }): string {
  return /^error: (.*)$/im.exec(stderr)?.[1] ?? stderr;
}

describe('the package', () => {
  let folder: string;
  let tarball: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-install-'));
    tarball = packTarball(folder);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  function emptyHost(name: string): string {
    const host = mkdtempSync(join(folder, `${name}-`));
    writeFileSync(join(host, 'package.json'), '{"private":true}');
    return host;
  }

  it('the package has every package of the service as an optional peer, so that hosts choose', () => {
    const { peerDependencies: peers, peerDependenciesMeta: meta } = manifest;
    expect(Object.keys(meta)).toEqual(Object.keys(peers));
    expect(Object.values(meta).filter(({ optional }) => !optional)).toEqual([]);
    expect(Object.keys(service.dependencies).filter((name) => !(name in peers))).toEqual([]);
    expect(Object.keys(manifest.dependencies).filter((name) => name in peers)).toEqual([]);
  });

  it('the package holds the console, and every file that its documents link to', () => {
    const files = run('tar', ['-tzf', tarball], folder)
      .trim()
      .split('\n')
      .map((path) => path.slice('package/'.length));
    const page = ['main.js', 'style.css'].map((name) => `dist/browser/console/${name}`);
    expect(files).toEqual(expect.arrayContaining(page));
    const documents = files.filter((path) => path.endsWith('.md'));
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/embedding.md']));
    const missing = documents.flatMap((document) => {
      const text = run('tar', ['-xzOf', tarball, `package/${document}`], folder);
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) =>
        normalize(join(dirname(document), path!)),
      );
      const isThere = (link: string) => files.some((path) => path === link || path.startsWith(`${link}/`));
      return links.filter((link) => !isThere(link)).map((link) => `${document}: ${link}`);
    });
    expect(missing).toEqual([]);
  });

  it('the package costs a front end that uses tenantry/client no package of the service, and no Nest', () => {
    const host = emptyHost('front-end');
    install(host, tarball);
    const { packages, bytes } = installedIn(host);
    expect(packages.map((path) => path.replace('node_modules/', ''))).toEqual(
      'commander lru-cache openapi-fetch openapi-typescript-helpers tenantry'.split(' '),
    );
    expect(bytes).toBeLessThan(8e6);
    // Nothing else is there, so nothing else can get into its bundle.
    const used = "require('tenantry/client'); console.log(Object.keys(require.cache).join('\\n'))";
    const loaded = run(process.execPath, ['-e', used], host).trim().split('\n');
    const owners = loaded.map((path) => path.split('/node_modules/')[1]!.split('/')[0]);
    expect([...new Set(owners)].sort()).toEqual(['openapi-fetch', 'tenantry']);
  });

  describe('in a platform on Nest 11 and MySQL, installed with the line of the guide', () => {
    let host: string;
    let database: ThrowAwayDatabase;

    beforeAll(async () => {
      database = await throwAwayDatabase({ server: urlOfServer('mariadb') });
      host = emptyHost('platform');
      install(host, ...NEST, 'reflect-metadata', 'rxjs', ...LINE.split(' '));
    });
    afterAll(async () => {
      await database.drop();
    });

    /** Runs Node.js in the host and gives what it printed, also when it failed. */
    async function runNode(
      args: string[],
      url = '',
      cwd = host,
    ): Promise<{ stdout: string; stderr: string }> {
      const env = { PATH: process.env.PATH, DATABASE_URL: url };
      return promisify(execFile)(process.execPath, args, { cwd, env }).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      );
    }

    it('the package adds at most 25 packages and 8 MB to a platform, and asks for no other Nest', () => {
      const before = installedIn(host);
      install(host, tarball);
      const after = installedIn(host);
      expect(after.packages.length - before.packages.length).toBeLessThanOrEqual(25);
      expect(after.bytes - before.bytes).toBeLessThan(8e6);
      expect(after.packages).not.toContain('node_modules/preact');
      expect(LINE).toContain('@11');
    });

    it('a platform serves, and its database is examined with the driver that it has', async () => {
      const { url } = database;
      expect(runHost(host, { database: 'mysql', type: 'commonjs', url })).toContain('Sales');
      const { stdout, stderr } = await runNode([CLI, 'doctor'], url);
      expect(stdout + stderr).toContain('The database is sound.');
    });

    const kit = "require('reflect-metadata'); const kit = require('tenantry/testing');";
    const open = "new (require('tenantry').SqliteDataSource)({ database: 'x.sqlite' }).initialize()";
    it.each([
      ['SQLite', '@photostructure/sqlite', ['-e', `require('reflect-metadata'); ${open}`]],
      ['SQLite', '@photostructure/sqlite', ['-e', `${kit} kit.throwAwayDatabase().then((it) => it.open())`]],
      ['mintToken of tenantry/testing', 'jsonwebtoken', ['-e', `${kit} kit.mintToken()`]],
      ['TestService of tenantry/testing', 'pino', ['-e', `${kit} kit.TestService.start()`]],
      ['tenantry token', 'jsonwebtoken', [CLI, 'token']],
      ['tenantry demo', '@node-rs/argon2', [CLI, 'demo']],
    ])('a platform is told in one sentence what %s needs: %s', async (part, name, args) => {
      const said = sentenceIn(await runNode(args));
      expect(said).toContain(`${part} needs `);
      expect(said).toContain(` ${name}@${service.dependencies[name]}`);
    });

    it('a platform serves with class-validator 0.14 as well', () => {
      install(host, 'class-validator@0.14');
      expect(runHost(host, { database: 'mysql', type: 'commonjs', url: database.url })).toContain('Sales');
    });

    it('a platform is told in one sentence that its Swagger is too old', async () => {
      const older = emptyHost('older');
      install(older, ...NEST, 'reflect-metadata', 'rxjs', '@nestjs/typeorm@11', 'typeorm@1');
      const parts = ['@nestjs/swagger@11.4.3', 'class-validator', 'class-transformer', tarball];
      run('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', ...parts], older);
      const { stderr } = await runNode(['-e', "require('reflect-metadata'); require('tenantry')"], '', older);
      expect(sentenceIn({ stderr })).toBe('Tenantry needs @nestjs/swagger 11.4.4 or later.');
    });

    it('a platform is told all that the service needs', async () => {
      const make = 'kit.throwAwayDatabase({ server: process.env.DATABASE_URL })';
      const start = 'kit.TestService.start({ database })';
      const code = `${kit} ${make}.then((database) => ${start}).then((it) => it.stop())`;
      const startService = () => runNode(['-e', `${code}.then(() => console.log('stopped'))`], database.url);
      const [, packages] = sentenceIn(await startService()).split(': npm i ');
      install(host, ...packages!.split(' '));
      expect(await startService()).toMatchObject({ stdout: 'stopped\n' });
    });
  });
});
