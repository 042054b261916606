const { existsSync } = require('node:fs');
const { mariadbBinary, LOUD } = require('./test/support/mariadb-binary.js');

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

const common = {
  rootDir: __dirname,
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': swc },
  setupFiles: ['reflect-metadata'],
};

const e2e = (database) => ({
  ...common,
  displayName: database,
  testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
  globals: { TEST_DATABASE: database },
  setupFilesAfterEnv: ['<rootDir>/test/support/examine-after-each.ts'],
});

const serverAvailable = process.env.TEST_DATABASE_URL || existsSync(mariadbBinary() ?? '');
if (!serverAvailable && process.env.REQUIRE_MYSQL === '1') throw new Error(`REQUIRE_MYSQL=1, but: ${LOUD}`);

/** @type {import('jest').Config} */
module.exports = {
  // One more than most small machines have cores: some tests wait, for a process to start or a limit to pass.
  maxWorkers: 3,
  testTimeout: 120_000,
  reporters: ['default', ...(serverAvailable ? [] : ['<rootDir>/test/support/loud-reporter.js'])],
  projects: [
    {
      ...common,
      displayName: 'unit',
      // What has nothing to do with the database runs once, on the default one.
      testMatch: [
        '<rootDir>/src/**/*.spec.ts',
        '<rootDir>/test/**/*.unit-spec.ts',
        '<rootDir>/test/**/*.once-spec.ts',
      ],
    },
    e2e('sqlite'),
    ...(serverAvailable
      ? [
          {
            ...e2e('mariadb'),
            globalSetup: '<rootDir>/test/support/mariadb-setup.ts',
            globalTeardown: '<rootDir>/test/support/mariadb-teardown.ts',
          },
        ]
      : []),
  ],
};
