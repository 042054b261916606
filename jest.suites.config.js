const { existsSync, statfsSync } = require('node:fs');
const base = require('./jest.config.js');

// A COMMIT waits for the disk, and tests make tens of thousands: where there is room, their databases are in memory.
const MEMORY = '/dev/shm';
const isRoomy = ({ bavail, bsize }) => bavail * bsize > 2 * 1024 ** 3;
if (existsSync(MEMORY) && isRoomy(statfsSync(MEMORY))) process.env.TMPDIR ??= MEMORY;

const ONCE = '<rootDir>/test/suites/once-*.suite.ts';

/** What `npm test` runs: the same specs, several in one file; test/support/suites.ts says why. */
module.exports = {
  ...base,
  projects: base.projects.map((project) =>
    project.displayName === 'unit'
      ? { ...project, testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.unit-spec.ts', ONCE] }
      : { ...project, testMatch: ['<rootDir>/test/suites/!(once-)*.suite.ts'] },
  ),
};
