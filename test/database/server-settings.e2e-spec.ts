import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { createDataSource, withMigrationLock } from '../../src/data-source';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { TenantryModule } from '../../src/tenantry.module';
import { aDept, type ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { HeaderResolver, Host } from '../support/host';
import { startInnodb } from '../support/innodb-server';
import { runCli } from '../support/run-cli';
import { mariadbBinary, mysqlBinary } from '../support/server-binaries';
import { urlOfServer } from '../support/server-of-run';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase, onInnodb, onMysql, onPostgres, onServer } from '../support/test-database';
import { treeProblems } from '../support/tree-check';
import { until } from '../support/until';

/** Settings that an operator may give to a database of PostgreSQL, for other programs. */
const ODD_SETTINGS = [
  ...[
    "datestyle = 'German, DMY'",
    "intervalstyle = 'sql_standard'",
    "default_transaction_isolation = 'serializable'",
  ],
  ...['standard_conforming_strings = off', "client_encoding = 'LATIN1'", "timezone = 'America/St_Johns'"],
];

const KIND = onPostgres ? 'postgres' : onMysql ? 'mysql' : 'mariadb';

/** Names that differ between MariaDB and MySQL. */
const NAMES = onMysql
  ? {
      isolation: 'transaction_isolation',
      readOnly: 'transaction_read_only',
      briefly: 'max_execution_time = 50',
      odd: 'PIPES_AS_CONCAT',
    }
  : {
      isolation: 'tx_isolation',
      readOnly: 'tx_read_only',
      briefly: 'max_statement_time = 0.05',
      odd: 'ORACLE',
    };

/** The same for sessions on MariaDB and MySQL. */
const ODD_VARIABLES = [
  ...[
    'autocommit = 0',
    'completion_type = 2',
    'foreign_key_checks = 0',
    `sql_mode = '${NAMES.odd},ANSI_QUOTES'`,
  ],
  ...['sql_select_limit = 1', 'sql_safe_updates = 1', 'max_join_size = 1', "time_zone = '-03:30'"],
  ...[
    "character_set_client = 'latin1'",
    "character_set_results = 'latin1'",
    `${NAMES.isolation} = 'SERIALIZABLE'`,
  ],
];

/** An empty database, with these settings on PostgreSQL, or these variables of its sessions on MariaDB and MySQL. */
async function withSettings(
  settings: readonly string[],
  variables: readonly string[],
): Promise<ThrowAwayDatabase> {
  const database = await emptyDatabase();
  if (!onServer) return database;
  const dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
  const name = String(dataSource.options.database);
  const statements = onPostgres
    ? settings.map((setting) => `ALTER DATABASE ${name} SET ${setting}`)
    : [
        `DROP USER IF EXISTS ${PLAIN}@'%'`,
        `CREATE USER ${PLAIN}@'%' IDENTIFIED BY 'plain'`,
        `GRANT ALL ON ${name}.* TO ${PLAIN}@'%'`,
        // It does not reach the accounts of other tests, which are administrators.
        `SET GLOBAL init_connect = "SET ${variables.join(', ')}"`,
      ];
  for (const sql of statements) await dataSource.query(sql);
  await dataSource.destroy();
  if (onPostgres) return database;
  const own = Object.assign(new URL(database.url), { username: PLAIN, password: 'plain' });
  return { ...database, url: own.href };
}

/** On the server of this run, in none of its databases unless one is named. */
async function administrator(database = onPostgres ? 'postgres' : 'mysql'): Promise<DataSource> {
  const url = `${urlOfServer(KIND)}/${database}`;
  return (await createDataSource(parseDatabaseUrl(url))).initialize();
}

/** On MariaDB and MySQL, all of an account. */
async function endSessions(admin: DataSource, account: string): Promise<void> {
  const rows = await admin.query<{ id: number }[]>(
    'SELECT id AS id FROM information_schema.processlist WHERE user = ?',
    [account],
  );
  for (const { id } of rows) await admin.query(`KILL ${id}`);
}

/** The blocks of SQL in the operations guide for this database, each as its statements, about accounts of this name. */
function documentedAccounts(name: string): string[][] {
  const guide = readFileSync(join(__dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
  const section = guide.split('\n## Accounts of the database\n')[1]!.split('\n## ')[0]!;
  // Names of databases are bold, and the block comes after them.
  return section
    .split(/\*\*(?=\w)/)
    .filter((part) => part.split('**', 1)[0]!.endsWith(onPostgres ? 'PostgreSQL' : 'MySQL'))
    .map((part) => /```sql\n(.*?)```/s.exec(part)![1]!)
    .map((sql) =>
      sql
        .replaceAll(/\btenantry(_replica)?\b/g, `${name}$1`)
        .trimEnd()
        .split('\n'),
    );
}

const PLAIN = `tenantry_plain_${process.env.JEST_WORKER_ID ?? '1'}`;
const ACCOUNT = `tenantry_worker_${process.env.JEST_WORKER_ID ?? '1'}`;
/** How an account is made, refused and admitted again. */
const ROTATION = onPostgres
  ? {
      make: [`DROP ROLE IF EXISTS ${ACCOUNT}`, `CREATE ROLE ${ACCOUNT} LOGIN SUPERUSER`],
      refuse: [
        `ALTER ROLE ${ACCOUNT} NOLOGIN`,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ACCOUNT}'`,
      ],
      admit: [`ALTER ROLE ${ACCOUNT} LOGIN`],
    }
  : {
      make: [
        `DROP USER IF EXISTS ${ACCOUNT}@'%'`,
        `CREATE USER ${ACCOUNT}@'%' IDENTIFIED BY 'old'`,
        `GRANT ALL ON *.* TO ${ACCOUNT}@'%'`,
      ],
      refuse: [`ALTER USER ${ACCOUNT}@'%' IDENTIFIED BY 'new'`],
      admit: [`ALTER USER ${ACCOUNT}@'%' IDENTIFIED BY 'old'`],
    };

const HOST_PARTS = {
  imports: [TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' })],
};

describe('the settings of the server', () => {
  if (onInnodb) {
    afterEach(async () => {
      const admin = await administrator();
      await admin.query("SET GLOBAL init_connect = ''");
      if (onMysql) await admin.query('SET GLOBAL offline_mode = OFF');
      await admin.destroy();
    });
  }

  it('times and texts are read as they were written, whatever the settings of the server', async () => {
    const service = await ServiceUnderTest.on(await withSettings(ODD_SETTINGS, ODD_VARIABLES));
    const api = service.as();
    const before = Math.floor(Date.now() / 1000);
    const deptId = await aDept(api, { deptName: "a\\'b é 部" });
    expect((await api.patch(`/system/dept-api/${deptId}`, { leader: 'Li' })).status).toBe(200);
    const { deptName, createTime, updateTime } = (await api.get(`/system/dept-api/${deptId}`)).body
      .data as Record<string, string>;
    expect(deptName).toBe("a\\'b é 部");
    for (const time of [createTime, updateTime]) {
      const seconds = Date.parse(`${time!.replace(' ', 'T')}+08:00`) / 1000;
      expect(seconds).toBeGreaterThanOrEqual(before);
      expect(seconds).toBeLessThanOrEqual(Date.now() / 1000);
    }
    await aDept(api, { deptName: '部', parentId: deptId });
    expect((await api.get('/system/dept-api')).body.data).toMatchObject({ rows: [{}, { deptName: '部' }] });
    await service.stop();
  });

  if (!onServer) return;

  it('a server that refuses the account, as when its password is changed, makes requests a 503 until it admits it again', async () => {
    const database = await emptyDatabase();
    const admin = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
    const change = async (statements: string[]) => {
      for (const sql of statements) await admin.query(sql);
    };
    await change(ROTATION.make);
    const own = Object.assign(new URL(database.url), { username: ACCOUNT, password: 'old' });
    const service = await ServiceUnderTest.on({ ...database, url: own.href });
    const api = service.as();
    const deptId = await aDept(api);
    await change(ROTATION.refuse);
    if (onInnodb) await endSessions(admin, ACCOUNT);
    const asked = [api.get(`/system/dept-api/${deptId}`), api.post('/system/dept-api', {})];
    for (const answer of await Promise.all(asked)) {
      expect(answer).toMatchObject({ status: 503, body: { data: { reason: 'DATABASE_UNAVAILABLE' } } });
      expect(answer.headers).toHaveProperty('retry-after');
    }
    // A start says so at once: the address is probably wrong.
    await expect(createDataSource(parseDatabaseUrl(own.href))).rejects.toThrow(ACCOUNT);
    await change(ROTATION.admit);
    await until(async () => (await api.post('/system/dept-api', {})).status === 200);
    await admin.destroy();
    await service.stop();
  });

  it('a start waits for another that prepares the database, though the server ends statements early', async () => {
    const database = await withSettings(
      ["statement_timeout = '50ms'", "idle_session_timeout = '50ms'"],
      [NAMES.briefly, 'wait_timeout = 1'],
    );
    const location = parseDatabaseUrl(database.url);
    const order: string[] = [];
    const prepare = (name: string) =>
      withMigrationLock(location, async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, onPostgres ? 300 : 1500));
        order.push(`${name} ends`);
      });
    const first = prepare('a');
    while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await Promise.all([first, prepare('b')]);
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    await database.drop();
  });

  if (onInnodb) {
    it.each<[string, string]>([
      ['be locked', `ALTER USER ${PLAIN}@'%' ACCOUNT LOCK`],
      // MySQL does not let it in (1862), MariaDB lets it in and then refuses every statement (1820).
      ['have a password that is too old', `ALTER USER ${PLAIN}@'%' PASSWORD EXPIRE`],
      ...(onMysql
        ? [['be kept out in offline mode', 'SET GLOBAL offline_mode = ON'] as [string, string]]
        : []),
      ['have a limit', `ALTER USER ${PLAIN}@'%' WITH MAX_QUERIES_PER_HOUR 1`],
      ['be refused by the database', `REVOKE ALL ON *.* FROM ${PLAIN}@'%'`],
      ['have settings that fail', "SET GLOBAL init_connect = 'SELECT * FROM nowhere.nothing'"],
      ['only read', `SET GLOBAL init_connect = "SET ${NAMES.readOnly} = 1"`],
    ])('writes are a 503 when the server lets the account %s', async (_name, sql) => {
      const database = await withSettings([], ['@nothing = 1']);
      const service = await ServiceUnderTest.on(database);
      const admin = await administrator();
      await admin.query(sql.replace('*.*', `${new URL(database.url).pathname.slice(1)}.*`));
      await endSessions(admin, PLAIN);
      expect(await service.as().post('/system/dept-api', {})).toMatchObject({
        status: 503,
        body: { data: { reason: 'DATABASE_UNAVAILABLE' } },
      });
      await admin.destroy();
      await service.stop();
    });

    it.each(['READ-COMMITTED', 'REPEATABLE-READ'])(
      'opposing moves at two hosts whose sessions are %s make no cycle',
      async (level) => {
        const admin = await administrator();
        await admin.query(`SET GLOBAL ${NAMES.isolation} = '${level}'`);
        const database = await emptyDatabase();
        const hosts = [await Host.on(database, HOST_PARTS), await Host.on(database, HOST_PARTS)];
        const [left, right] = hosts.map((host) => host.as()) as [ApiClient, ApiClient];
        for (let round = 0; round < 10; round += 1) {
          const [a, b] = [await aDept(left), await aDept(right)];
          const answers = await Promise.all([
            left.patch(`/system/dept-api/${a}`, { parentId: b }),
            right.patch(`/system/dept-api/${b}`, { parentId: a }),
          ]);
          expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
        }
        expect(await treeProblems(hosts[0]!.dataSource, '000000')).toEqual([]);
        await admin.query(`SET GLOBAL ${NAMES.isolation} = 'REPEATABLE-READ'`);
        await admin.destroy();
        await hosts[1]!.app.close();
        await hosts[0]!.stop();
      },
    );
  }

  it('the rights that the operations guide gives suffice to migrate, to serve and to examine', async () => {
    const name = `tenantry_rights_${process.env.JEST_WORKER_ID ?? '1'}`;
    const [owner, replica] = documentedAccounts(name);
    const admin = await administrator();
    const host = onPostgres ? '' : "@'%'";
    const remove = async (): Promise<void> => {
      await admin.query(`DROP DATABASE IF EXISTS ${name}${onPostgres ? ' WITH (FORCE)' : ''}`);
      for (const each of [name, `${name}_replica`])
        await admin.query(`DROP ${onPostgres ? 'ROLE' : 'USER'} IF EXISTS ${each}${host}`);
    };
    await remove();
    for (const sql of owner!) await admin.query(sql);
    const inside = await administrator(name);
    for (const sql of replica!) await inside.query(sql);
    await inside.destroy();

    const { folder, drop } = await emptyDatabase();
    const as = (username: string, password: string): ThrowAwayDatabase => {
      const url = Object.assign(new URL(urlOfServer(KIND)), { username, password, pathname: `/${name}` });
      return { url: url.href, folder, drop, open: () => Promise.reject(new Error('not needed')) };
    };
    const [migrating, serving] = [as(name, 'a-long-password'), as(`${name}_replica`, 'another-password')];
    const migrated = await runCli(migrating, ['migrate']);
    expect([migrated.code, migrated.err]).toEqual([0, '']);
    for (const [database, MIGRATE] of [
      [serving, 'off'],
      [migrating, 'on'],
    ] as const) {
      const service = await ChildService.start(database, { MIGRATE });
      const platform = service.as({ roles: ['superadmin'] });
      await aDept(platform);
      const file = `path,orderNum\n${MIGRATE},1\n`;
      const type = { 'content-type': 'text/csv' };
      expect((await platform.send('POST', '/system/dept-api/import', file, type)).status).toBe(200);
      expect((await platform.post('/system/tenant-api', { tenantName: MIGRATE })).status).toBe(200);
      const login = { username: 'admin', password: 'admin-password' };
      expect((await service.anonymous.post('/auth/login', login)).status).toBe(200);
      expect(await service.stop()).toBe(0);
      const { code, out } = await runCli(database, ['doctor']);
      expect([code, out]).toEqual([0, 'The database is sound.\n']);
    }
    await remove();
    await admin.destroy();
    await drop();
  });

  if (onMysql) {
    it('a server that has forgotten the password of caching_sha2_password is reached without TLS', async () => {
      const database = await withSettings([], ['@nothing = 1']);
      const service = await ServiceUnderTest.on(database);
      const admin = await administrator();
      expect(
        await admin.query(
          `SELECT plugin, @@collation_server AS collation FROM mysql.user WHERE user = '${PLAIN}'`,
        ),
      ).toEqual([{ plugin: 'caching_sha2_password', collation: 'utf8mb4_0900_ai_ci' }]);
      await admin.query('FLUSH PRIVILEGES');
      await endSessions(admin, PLAIN);
      expect((await service.as().post('/system/dept-api', {})).status).toBe(200);
      await admin.destroy();
      await service.stop();
    });
  }

  const binary = onMysql ? mysqlBinary() : mariadbBinary();
  if (onInnodb && binary !== undefined) {
    it('a server with binlog_format=STATEMENT is refused at the start: InnoDB would refuse every write', async () => {
      const server = await startInnodb(binary, {
        isDurable: true,
        settings: ['--log-bin=log', '--server-id=1', '--binlog-format=STATEMENT'],
      });
      const location = parseDatabaseUrl(`${server.url}/information_schema`);
      await expect(createDataSource(location)).rejects.toThrow(
        'The database server has binlog_format=STATEMENT; it must be MIXED or ROW.',
      );
      await server.stop();
    });
  }

  if (!onPostgres) return;

  it.each(['LATIN1', 'SQL_ASCII'])('a database in %s is refused: it must be UTF8', async (encoding) => {
    const database = await emptyDatabase();
    const own = new URL(database.url);
    const dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
    const name = `${own.pathname.slice(1)}_${encoding.toLowerCase()}`;
    await dataSource.query(`DROP DATABASE IF EXISTS ${name}`);
    await dataSource.query(
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'`,
    );
    own.pathname = `/${name}`;
    await expect(createDataSource(parseDatabaseUrl(own.href))).rejects.toThrow(
      `The database is encoded in ${encoding}; it must be created with ENCODING 'UTF8'.`,
    );
    await dataSource.query(`DROP DATABASE ${name}`);
    await dataSource.destroy();
    await database.drop();
  });
});
