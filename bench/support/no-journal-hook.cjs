/** Loaded before the service: units of work write no journal, so that it can be compared with itself. */
const { join } = require('node:path');
const { ChangeLog } = require(join(__dirname, '..', '..', 'dist', 'journal', 'change-log.js'));

ChangeLog.prototype.beforeCommit = () => Promise.resolve();
