const { existsSync, statfsSync } = require('node:fs');
const { mariadbBinary, postgresFolder, LOUD, LOUD_POSTGRES } = require('./test/support/server-binaries.js');

const { TEST_DATABASE_URL, TEST_POSTGRES_URL, REQUIRE_MYSQL, REQUIRE_POSTGRES } = process.env;
const hasMariadb = Boolean(TEST_DATABASE_URL ?? mariadbBinary());
const hasPostgres = Boolean(TEST_POSTGRES_URL ?? postgresFolder());
if (!hasMariadb && REQUIRE_MYSQL === '1') throw new Error(`REQUIRE_MYSQL=1, but: ${LOUD}`);
if (!hasPostgres && REQUIRE_POSTGRES === '1') throw new Error(`REQUIRE_POSTGRES=1, but: ${LOUD_POSTGRES}`);
const leftOut = [...(hasMariadb ? [] : [LOUD]), ...(hasPostgres ? [] : [LOUD_POSTGRES])];

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

const onMariadb = {
  ...onDatabase('mariadb'),
  globalSetup: '<rootDir>/test/support/mariadb-setup.ts',
  globalTeardown: '<rootDir>/test/support/mariadb-teardown.ts',
};

const onPostgres = {
  ...onDatabase('postgres'),
  globalSetup: '<rootDir>/test/support/postgres-setup.ts',
  globalTeardown: '<rootDir>/test/support/postgres-teardown.ts',
};

const each = 'test/!(once|browser|packed|scale|faults|suites|support)/**/*.e2e-spec.ts';
const onSqlite = inSuites ? 'test/suites/!(once-)*.ts' : each;
// Processes take long to start: on servers, what is about them is left to `npm run test:long`.
const onServer = inSuites && process.env.LONG !== '1' ? 'test/suites/!(once-|processes)*.ts' : onSqlite;

/** @type {import('jest').Config} */
module.exports = {
  // One more than most small machines have cores: some tests wait, for a process to start or a limit to pass.
  maxWorkers: 3,
  testTimeout: 120_000,
  reporters: ['default', ['<rootDir>/test/support/loud-reporter.js', { messages: leftOut }]],
  projects: [
    project('unit', ['src/**/*.spec.ts', 'test/**/*.spec.ts']),
    project('once', inSuites ? 'test/suites/once-*.ts' : 'test/once/*.e2e-spec.ts', withCheapPasswords),
    project('sqlite', onSqlite, onDatabase('sqlite')),
    ...(hasMariadb ? [project('mariadb', onServer, onMariadb)] : []),
    ...(hasPostgres ? [project('postgres', onServer, onPostgres)] : []),
    // These run apart from `npm test`, each by its own npm script.
    project('browser', 'test/browser/*.e2e-spec.ts'),
    project('packed', 'test/packed/*.e2e-spec.ts', onMariadb),
    project('scale', 'test/scale/*.e2e-spec.ts', onMariadb),
    project('faults', 'test/faults/*.e2e-spec.ts', onMariadb),
  ],
};
