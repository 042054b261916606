const base = require('./jest.config.js');

/** The packed package in hosts that are installed as anybody installs them; it needs the registry. */
module.exports = {
  ...base,
  maxWorkers: 1,
  testTimeout: 300_000,
  projects: [
    {
      ...base.projects.find(({ displayName }) => displayName === 'unit'),
      displayName: 'packed',
      testMatch: ['<rootDir>/test/packed/*.packed-spec.ts'],
    },
  ],
};
