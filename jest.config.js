const { existsSync, statfsSync } = require('node:fs');
const { SERVER_KINDS, serverOf } = require('./test/support/server-binaries.js');

const servers = SERVER_KINDS.map((kind) => ({ kind, missing: serverOf(kind).missing }));
const leftOut = servers.flatMap(({ missing }) => missing ?? []);

/** `npm test` runs many specs in one file, because Jest loads Nest anew for each file; see test/support/suites.ts. */
const inSuites = process.env.TEST_SUITES === '1';

// A COMMIT waits for the disk, and tests make tens of thousands: where there is room, their databases are in memory.
const MEMORY = '/dev/shm';
const isRoomy = ({ bavail, bsize }) => bavail * bsize > 2 * 1024 ** 3;
const inMemory = process.env.TEST_IN_MEMORY === '1';
if (inMemory && existsSync(MEMORY) && isRoomy(statfsSync(MEMORY))) process.env.TMPDIR ??= MEMORY;

const swc = [
  '@swc/jest',
  {
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      target: 'es2022',
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
  },
];

const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch: [testMatch].flat().map((pattern) => `<rootDir>/${pattern}`),
  rootDir: __dirname,
  testEnvironment: 'node',
  // jose is published as an ES module only, which Jest cannot require on Node 20 and 22.
  transform: { '^.+\\.ts$': swc, '/node_modules/jose/.+\\.js$': swc },
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
  setupFiles: ['reflect-metadata'],
  ...more,
});

const withCheapPasswords = {
  moduleNameMapper: { '^@node-rs/argon2$': '<rootDir>/test/support/cheap-argon2.ts' },
};

const onDatabase = (database) => ({
  ...withCheapPasswords,
  ...(database !== 'postgres' && { testPathIgnorePatterns: ['<rootDir>/test/\\w+/postgres-'] }),
  globals: { TEST_DATABASE: database },
  setupFilesAfterEnv: ['<rootDir>/test/support/examine-after-each.ts'],
});

/** A file for each kind: Jest runs a set-up once for each path. */
const onServerOf = (kind) => ({
  ...onDatabase(kind),
  globalSetup: `<rootDir>/test/support/${kind}-setup.ts`,
  globalTeardown: `<rootDir>/test/support/${kind}-teardown.ts`,
});
const onMariadb = onServerOf('mariadb');

const each = 'test/!(one-database|browser|packed|scale|faults|deploy|suites|support)/**/*.e2e-spec.ts';
const onSqlite = inSuites ? 'test/suites/!(one-database-|on-mysql)*.ts' : each;
// Processes take long to start: on servers, what is about them is left to `npm run test:long`. On MySQL, more than that.
const isShort = inSuites && process.env.LONG !== '1';
const onServer = isShort ? 'test/suites/!(one-database-|on-mysql|processes)*.ts' : onSqlite;
const onMysql = isShort ? 'test/suites/on-mysql.ts' : onSqlite;

/** @type {import('jest').Config} */
module.exports = {
  // One more than most small machines have cores: some tests wait, for a process to start or a limit to pass.
  maxWorkers: 3,
  testTimeout: 120_000,
  reporters: ['default', ['<rootDir>/test/support/loud-reporter.js', { messages: leftOut }]],
  projects: [
    project('unit', ['src/**/*.spec.ts', 'test/**/*.spec.ts']),
    project(
      'one-database',
      inSuites ? 'test/suites/one-database-*.ts' : 'test/one-database/*.e2e-spec.ts',
      withCheapPasswords,
    ),
    project('sqlite', onSqlite, onDatabase('sqlite')),
    ...servers
      .filter(({ missing }) => missing === undefined)
      .map(({ kind }) => project(kind, kind === 'mysql' ? onMysql : onServer, onServerOf(kind))),
    // These run apart from `npm test`, each by its own npm script.
    project('browser', 'test/browser/*.e2e-spec.ts'),
    project('browser-mariadb', 'test/browser/console.e2e-spec.ts', onMariadb),
    project('packed', 'test/packed/*.e2e-spec.ts', onMariadb),
    project('scale', 'test/scale/*.e2e-spec.ts', onMariadb),
    project('faults', 'test/faults/*.e2e-spec.ts', onMariadb),
    project('deploy', 'test/deploy/*.e2e-spec.ts'),
  ],
};
