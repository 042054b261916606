const { existsSync } = require('node:fs');
const base = require('./jest.config.js');
const { mariadbBinary, LOUD } = require('./test/support/mariadb-binary.js');

if (!process.env.TEST_DATABASE_URL && !existsSync(mariadbBinary() ?? '')) throw new Error(LOUD);

/** What only shows in a tenant of a million departments. It needs MariaDB, and a minute to fill it. */
module.exports = {
  ...base,
  maxWorkers: 1,
  testTimeout: 600_000,
  projects: [
    {
      ...base.projects.find(({ displayName }) => displayName === 'mariadb'),
      displayName: 'scale',
      testMatch: ['<rootDir>/test/scale/*.scale-spec.ts'],
    },
  ],
};
