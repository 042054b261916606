const { mariadbApart } = require('./test/support/mariadb-apart.js');

/** What only shows in a tenant of a million departments. It needs MariaDB, and a minute to fill it. */
module.exports = mariadbApart('scale', 600_000);
