// Preloaded into a service: while a file exists, its process dies right after the database has committed, before anybody
// is told. It stands in for the moment that no test can hit from outside.
const { existsSync } = require('node:fs');
const { MysqlQueryRunner } = require('typeorm/driver/mysql/MysqlQueryRunner.js');
const { PostgresQueryRunner } = require('typeorm/driver/postgres/PostgresQueryRunner.js');
const { AbstractSqliteQueryRunner } = require('typeorm/driver/sqlite-abstract/AbstractSqliteQueryRunner.js');

for (const { prototype } of [MysqlQueryRunner, PostgresQueryRunner, AbstractSqliteQueryRunner]) {
  const commit = prototype.commitTransaction;
  prototype.commitTransaction = async function commitAndDie() {
    await commit.call(this);
    if (existsSync(process.env.DIE_AFTER_COMMIT)) process.kill(process.pid, 'SIGKILL');
  };
}
