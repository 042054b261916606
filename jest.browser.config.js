const base = require('./jest.config.js');

/** Swagger UI in a real browser; it needs chromium, so it runs apart from the other tests. */
module.exports = {
  ...base,
  projects: [
    {
      ...base.projects.find(({ displayName }) => displayName === 'unit'),
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/*.browser-spec.ts'],
    },
  ],
};
