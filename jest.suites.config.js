const base = require('./jest.config.js');

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
