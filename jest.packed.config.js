const { mariadbApart } = require('./test/support/mariadb-apart.js');

/** The packed package in hosts that are installed as anybody installs them; it needs the registry, and MariaDB. */
module.exports = mariadbApart('packed', 300_000);
