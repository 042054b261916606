const { existsSync } = require('node:fs');
const base = require('./jest.config.js');
const { mariadbBinary, LOUD } = require('./test/support/mariadb-binary.js');

if (!process.env.TEST_DATABASE_URL && !existsSync(mariadbBinary() ?? '')) throw new Error(LOUD);

/** The packed package in hosts that are installed as anybody installs them; it needs the registry, and MariaDB. */
module.exports = {
  ...base,
  maxWorkers: 1,
  testTimeout: 300_000,
  projects: [
    {
      ...base.projects.find(({ displayName }) => displayName === 'mariadb'),
      displayName: 'packed',
      testMatch: ['<rootDir>/test/packed/*.packed-spec.ts'],
    },
  ],
};
