const { mariadbApart } = require('./test/support/mariadb-apart.js');

/** Faults, floods and hostile input at full length; `npm test` runs short forms of the same. It needs MariaDB. */
module.exports = mariadbApart('faults', 600_000);
