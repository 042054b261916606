const { existsSync } = require('node:fs');
const base = require('./jest.config.js');
const { mariadbBinary, LOUD } = require('./test/support/mariadb-binary.js');

if (!process.env.TEST_DATABASE_URL && !existsSync(mariadbBinary() ?? '')) throw new Error(LOUD);

/** Faults, floods and hostile input at full length; `npm test` runs short forms of the same. It needs MariaDB. */
module.exports = {
  ...base,
  maxWorkers: 1,
  testTimeout: 600_000,
  projects: [
    {
      ...base.projects.find(({ displayName }) => displayName === 'mariadb'),
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/*.faults-spec.ts'],
    },
  ],
};
