const { existsSync } = require('node:fs');
const { join } = require('node:path');

const NAMES = ['mariadbd', 'mysqld'];

/** The database server installed on this machine, if any. */
exports.mariadbBinary = () => {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/usr/libexec'];
  return folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
};

exports.LOUD =
  'no mariadbd or mysqld is installed and TEST_DATABASE_URL is not set: the e2e tests did NOT run on MariaDB/MySQL.';
