import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { compile, installOffline, ROOT, run } from '../support/packed';

const GENERATOR = '@openapitools/openapi-generator-cli@2.41.0';
/** The npm package brings this from Maven Central; it needs Java. */
const CONFIG = { 'generator-cli': { version: '7.25.0', storageDir: 'generator' } };

/** Writes the OpenAPI document of a host that has the packed package. */
const HOST = `
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { DocumentBuilder, SwaggerModule } = require('@nestjs/swagger');
const { TypeOrmModule } = require('@nestjs/typeorm');
const { entities, migrations, SqliteDataSource, TenantryModule } = require('tenantry');

async function main() {
  const dataSource = new SqliteDataSource({ database: 'host.sqlite', entities, migrations, migrationsRun: true });
  const options = { useFactory: () => dataSource.options, dataSourceFactory: () => dataSource.initialize() };
  const tenantry = TenantryModule.forRoot({ principalResolver: { resolve: () => null }, userDirectory: 'none' });
  class HostModule {}
  Module({ imports: [TypeOrmModule.forRootAsync(options), tenantry] })(HostModule);
  const app = await NestFactory.create(HostModule, { logger: ['error'] });
  const config = new DocumentBuilder().addBearerAuth().build();
  require('node:fs').writeFileSync('openapi.json', JSON.stringify(SwaggerModule.createDocument(app, config)));
  await app.close();
}
void main();
`;

describe('a client that openapi-generator makes', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-generated-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const put = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
  };

  /** The operations of a typescript-fetch client of this document, after it has compiled strictly. */
  function operationsFrom(document: string): string[] {
    put('openapitools.json', JSON.stringify(CONFIG));
    const args = ['generate', '-g', 'typescript-fetch', '-i', document, '-o', 'client'];
    run('npx', ['--yes', GENERATOR, ...args], folder);
    const options = { strict: true, target: 'ES2022', module: 'nodenext', lib: ['ES2022', 'DOM'], types: [] };
    put(
      'tsconfig.json',
      JSON.stringify({ compilerOptions: { ...options, noEmit: true }, include: ['client'] }),
    );
    compile(folder);
    const apis = join(folder, 'client', 'apis');
    const texts = readdirSync(apis).map((file) => readFileSync(join(apis, file), 'utf8'));
    return texts.flatMap((text) => [...text.matchAll(/^ {4}async (\w+)Raw\(/gm)].map((match) => match[1]!));
  }

  /** The operations of a document, without its callbacks, which are not called but received. */
  const named = (text: string) => {
    const { paths } = load(text) as { paths: Record<string, Record<string, { operationId: string }>> };
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    return operations.map(({ operationId }) => operationId).sort();
  };

  it('a generated client of the service compiles and has every operation', () => {
    cpSync(join(ROOT, 'docs', 'openapi.yaml'), join(folder, 'openapi.yaml'));
    const wanted = named(readFileSync(join(folder, 'openapi.yaml'), 'utf8'));
    expect(wanted.length).toBeGreaterThan(25);
    expect(operationsFrom('openapi.yaml').sort()).toEqual(wanted);
  });

  it('a generated client of a host compiles and has every operation', () => {
    installOffline(folder);
    put('host.cjs', HOST);
    run(process.execPath, ['host.cjs'], folder);
    const wanted = named(readFileSync(join(folder, 'openapi.json'), 'utf8'));
    expect(wanted).toEqual(expect.arrayContaining(['createDept', 'importDepts', 'patchTenant']));
    expect(operationsFrom('openapi.json').sort()).toEqual(wanted);
  });
});
