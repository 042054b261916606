/** Says at the end, where it is read, what this run left out. */
module.exports = class LoudReporter {
  constructor(globalConfig, { messages }) {
    this.messages = messages;
  }

  onRunComplete() {
    for (const message of this.messages) console.warn(`\n!!!!!! ATTENTION: ${message}\n`);
  }
};
