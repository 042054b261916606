const { existsSync, readdirSync, realpathSync } = require('node:fs');
const { homedir } = require('node:os');
const { basename, join } = require('node:path');

const PATH = (process.env.PATH ?? '').split(':');
const SYSTEM = [...PATH, '/usr/sbin', '/usr/local/sbin', '/usr/libexec'];

/** MariaDB's server, if it is installed on this machine. */
exports.mariadbBinary = () =>
  SYSTEM.map((folder) => join(folder, 'mariadbd')).find((path) => existsSync(path));

/** MySQL's server, if it is installed on this machine or was fetched by `.ci/fetch-mysql`. */
exports.mysqlBinary = () => {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folders = [...SYSTEM, join(cache, 'tenantry', 'mysql', 'bin')];
  // Where MariaDB is installed, its server has this name too.
  const isOwn = (path) => existsSync(path) && basename(realpathSync(path)) !== 'mariadbd';
  return folders.map((folder) => join(folder, 'mysqld')).find(isOwn);
};

const DEBIAN = '/usr/lib/postgresql';

/** The folder with the programs of the newest PostgreSQL that is installed, if any. */
exports.postgresFolder = () => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...PATH];
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
};

/** The servers that e2e tests run on, by the name of their Jest project. */
const SERVERS = {
  mariadb: { name: 'MariaDB', find: exports.mariadbBinary, hint: 'install mariadb-server' },
  mysql: { name: 'MySQL', find: exports.mysqlBinary, hint: 'run .ci/fetch-mysql' },
  postgres: { name: 'PostgreSQL', find: exports.postgresFolder, hint: 'install postgresql' },
};
exports.SERVER_KINDS = Object.keys(SERVERS);

/** Where the server of a kind comes from: an address that is given, or programs on this machine; or what is missing. */
exports.serverOf = (kind) => {
  const { name, find, hint } = SERVERS[kind];
  const given = `TEST_${kind.toUpperCase()}_URL`;
  const required = `REQUIRE_${kind.toUpperCase()}`;
  const url = process.env[given];
  const programs = url ? undefined : find();
  const missing =
    url || programs
      ? undefined
      : `no ${name} server was found and ${given} is not set: the e2e tests did NOT run on ${name} (${hint}).`;
  if (missing && process.env[required] === '1') throw new Error(`${required}=1, but: ${missing}`);
  return { url, programs, missing };
};
