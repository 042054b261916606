const base = require('./jest.config.js');

/** What `npm test` runs: the same specs, several in one file; test/support/suites.ts says why. */
module.exports = {
  ...base,
  projects: base.projects.map((project) =>
    project.displayName === 'unit'
      ? project
      : { ...project, testMatch: ['<rootDir>/test/suites/*.suite.ts'] },
  ),
};
