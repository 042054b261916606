import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { throwAwayDatabase } from '../../src/server/testing';
import { compile, copyPlatform, install, packTarball, runHost } from '../support/packed';
import { itIsAPlatform } from '../support/platform-rules';
import { startPostgres } from '../support/postgres-server';
import { postgresFolder } from '../support/server-binaries.js';
import type { ServerProcess } from '../support/server-process';

/** Most public Nest platforms are on PostgreSQL, and on TypeORM 0.3. */
describe.each(['^0.3.20', '^1.1.0'])('a host on PostgreSQL with TypeORM %s', (typeorm) => {
  let server: ServerProcess;
  let folder: string;

  beforeAll(async () => {
    server = await startPostgres(postgresFolder()!);
    folder = copyPlatform();
    install(folder, packTarball(folder), `typeorm@${typeorm}`, 'pg@8', '@types/express@5');
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['on its own', {}],
    ['in a schema of its choice', { schema: 'org' }],
    ['with a snake-case naming strategy', { snakeCase: true }],
  ])('a host on PostgreSQL works %s', async (_, shape) => {
    const database = await throwAwayDatabase({ server: server.url });
    const all = { ...shape, database: 'postgres', type: 'commonjs', url: database.url } as const;
    expect(runHost(folder, all)).toBe('/system/dept-api/1 Sales\n');
    await database.drop();
  });

  it('a host on PostgreSQL compiles against the types of the package, without those of drivers', () => {
    const strict = join(folder, 'strict');
    mkdirSync(strict);
    const compilerOptions = {
      module: 'nodenext',
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    };
    writeFileSync(join(strict, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(join(strict, 'index.ts'), "export * from 'tenantry';\nexport * from 'tenantry/testing';\n");
    compile(strict);
  });

  // The last one: it removes the folder.
  describe('that is the example platform', () => {
    itIsAPlatform(
      () => folder,
      () => throwAwayDatabase({ server: server.url }),
    );
  });
});
