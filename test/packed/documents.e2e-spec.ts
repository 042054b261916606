import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../../src/server/testing';
import { freePort } from '../support/free-port';
import { emptyDatabase } from '../support/test-database';
import { until } from '../support/until';
import { compile, installOffline, packTarball, ROOT, run } from '../support/packed';

const DOCUMENTS = ['README.md', 'docs/api.md', 'docs/embedding.md'];
const DATABASE_URL = 'mysql://user:password@127.0.0.1:3306/platform';
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const section = (text: string, title: string) => text.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
const snippets = (text: string) => [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);

describe('the documents for hosts', () => {
  let host: string;

  beforeAll(() => {
    host = mkdtempSync(join(tmpdir(), 'tenantry-readme-'));
    installOffline(host);
  });
  afterAll(() => {
    rmSync(host, { recursive: true });
  });

  const put = (name: string, text: string) => {
    writeFileSync(join(host, name), text);
  };

  it('the code of documents compiles as pasted, strictly, and the client knows its fields', async () => {
    const port = await freePort();
    const database = await emptyDatabase();
    const all = DOCUMENTS.map(read).flatMap(snippets);
    expect(all.length).toBeGreaterThan(25);
    all.forEach((text, index) => {
      const here = text.replace('listen(3000', `listen(${port}`).replace(DATABASE_URL, database.url);
      put(`snippet${index}.ts`, here);
    });
    const indexOf = (part: string) => all.findIndex((text) => text.includes(part));
    const options = { target: 'ES2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true };
    const decorators = { experimentalDecorators: true, emitDecoratorMetadata: true };
    const compilerOptions = {
      ...options,
      ...decorators,
      outDir: 'dist',
      types: ['node'],
      skipLibCheck: true,
    };
    put('package.json', '{}');
    put('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    compile(host);
    await itServes(`snippet${indexOf('SqliteDataSource({')}.js`, port);
    await itServes(`snippet${indexOf(DATABASE_URL)}.js`, port);
    await database.drop();
    const printed = (part: string, call: string): string => {
      const script = `require('./dist/snippet${indexOf(part)}.js').${call}()`;
      return execFileSync(process.execPath, ['-e', script], { cwd: host, encoding: 'utf8' });
    };
    expect(printed('TestService.start', 'test')).toMatch(/^200 .*Sales/s);
    expect(printed('testHost()', 'testHost')).toBe('[ 1 ] 1\n');
    const client = indexOf('createTenantryClient');
    put(`snippet${client}.ts`, all[client]!.replace('body: { deptName }', 'body: { name: deptName }'));
    expect(() => {
      compile(host);
    }).toThrow("'name' does not exist");
  });

  /** A whole platform: who has signed in gets an answer, others do not. */
  async function itServes(file: string, port: number): Promise<void> {
    const platform = spawn(process.execPath, [`dist/${file}`], { cwd: host, stdio: 'ignore' });
    const api = new ApiClient(`http://127.0.0.1:${port}`);
    try {
      await until(() =>
        api.get('/health-of-nobody').then(
          () => true,
          () => false,
        ),
      );
      const { status, refusal } = await api.get('/system/dept-api');
      expect([status, refusal.reason]).toEqual([401, 'TOKEN_INVALID']);
      const page = await api.as('demo').get('/system/dept-api');
      expect([page.status, page.body.data]).toEqual([200, { rows: [], nextCursor: null, hasMore: false }]);
    } finally {
      platform.kill();
      api.close();
      await once(platform, 'exit');
    }
  }

  it.each([
    [
      '--input-type=commonjs',
      "const { TenantryModule } = require('tenantry'); console.log(typeof TenantryModule.forRoot)",
    ],
    [
      '--input-type=module',
      "import { TenantryModule } from 'tenantry'; console.log(typeof TenantryModule.forRoot)",
    ],
    ['--input-type=commonjs', "console.log(typeof require('tenantry/client').createTenantryClient)"],
    [
      '--input-type=module',
      "import { createTenantryClient as it } from 'tenantry/client'; console.log(typeof it)",
    ],
    ['--input-type=commonjs', "console.log(typeof require('tenantry/testing').aDept)"],
    ['--input-type=module', "import { aDept } from 'tenantry/testing'; console.log(typeof aDept)"],
  ])('the package has entries that load: %s %s', (type, code) => {
    expect(execFileSync(process.execPath, [type, '-e', code], { cwd: host, encoding: 'utf8' })).toBe(
      'function\n',
    );
  });

  it('the package has no other entry', () => {
    const code = "require('tenantry/dist/dept/dept.service.js')";
    expect(() => execFileSync(process.execPath, ['-e', code], { cwd: host, stdio: 'pipe' })).toThrow(
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
    );
  });

  it('README tells how to install from a packed file, and how to run the example with it', () => {
    const place = mkdtempSync(join(tmpdir(), 'tenantry-packed-'));
    packTarball(place);
    const platform = join(place, 'examples', 'platform');
    cpSync(join(ROOT, 'examples', 'platform'), platform, { recursive: true });
    const before = readFileSync(join(platform, 'package.json'), 'utf8');
    const [, lines] = /^(cd examples\/platform && npm i .* && npm run build)/m.exec(read('README.md'))!;
    run('sh', ['-c', lines!], place);
    expect(existsSync(join(platform, 'dist', 'main.js'))).toBe(true);
    expect(readFileSync(join(platform, 'package.json'), 'utf8')).toBe(before);
    const [line] = /^npm i \.\.\/tenantry\/.*\n.*$/m.exec(read('README.md'))!;
    const mine = join(place, 'mine');
    mkdirSync(mine);
    run('sh', ['-c', line.replace('../tenantry/', '../')], mine);
    const loads = "console.log(typeof require('tenantry').TenantryModule.forRoot)";
    expect(run(process.execPath, ['-e', `require('reflect-metadata'); ${loads}`], mine)).toBe('function\n');
    rmSync(place, { recursive: true });
  });

  it('every option is documented', () => {
    const source = readFileSync(join(ROOT, 'src', 'tenantry-options.ts'), 'utf8');
    const options = [...source.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((match) => match[1]);
    const told = [...section(read('docs/embedding.md'), 'Options').matchAll(/^\| `(\w+)` \|/gm)].map(
      (match) => match[1],
    );
    expect(options.length).toBeGreaterThan(5);
    expect(told).toEqual(options);
  });
});
