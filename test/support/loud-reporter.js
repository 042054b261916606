const { LOUD } = require('./mariadb-binary.js');

/** Says at the end, where it is read, what this run left out. */
module.exports = class LoudReporter {
  onRunComplete() {
    console.warn(`\n!!!!!! ATTENTION: ${LOUD}\n`);
  }
};
