const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const NAMES = ['mariadbd', 'mysqld'];

/** The database server installed on this machine, if any. */
exports.mariadbBinary = () => {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/usr/libexec'];
  return folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
};

const DEBIAN = '/usr/lib/postgresql';

/** The folder with the programs of the newest PostgreSQL that is installed, if any. */
exports.postgresFolder = () => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
};

exports.LOUD_POSTGRES =
  'no PostgreSQL server is installed and TEST_POSTGRES_URL is not set: the e2e tests did NOT run on PostgreSQL.';

exports.LOUD =
  'no mariadbd or mysqld is installed and TEST_DATABASE_URL is not set: the e2e tests did NOT run on MariaDB/MySQL.';
