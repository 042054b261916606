const { existsSync } = require('node:fs');
const base = require('../../jest.config.js');
const { mariadbBinary, LOUD } = require('./mariadb-binary.js');

/** Specs that run apart from `npm test`, one after the other, and not without MariaDB. */
exports.mariadbApart = (displayName, testTimeout) => {
  if (!process.env.TEST_DATABASE_URL && !existsSync(mariadbBinary() ?? '')) throw new Error(LOUD);
  const mariadb = base.projects.find((project) => project.displayName === 'mariadb');
  const testMatch = [`<rootDir>/test/${displayName}/*.${displayName}-spec.ts`];
  return { ...base, maxWorkers: 1, testTimeout, projects: [{ ...mariadb, displayName, testMatch }] };
};
