import { createDataSource, withMigrationLock } from '../../src/data-source';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { aDept, type ThrowAwayDatabase } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase, onPostgres } from '../support/test-database';

/** Settings that an operator may give to a database of PostgreSQL, for other programs. */
const ODD_SETTINGS = [
  ...[
    "datestyle = 'German, DMY'",
    "intervalstyle = 'sql_standard'",
    "default_transaction_isolation = 'serializable'",
  ],
  ...['standard_conforming_strings = off', "client_encoding = 'LATIN1'", "timezone = 'America/St_Johns'"],
];

async function withSettings(settings: readonly string[]): Promise<ThrowAwayDatabase> {
  const database = await emptyDatabase();
  if (!onPostgres) return database;
  const dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
  const name = String(dataSource.options.database);
  for (const setting of settings) await dataSource.query(`ALTER DATABASE ${name} SET ${setting}`);
  await dataSource.destroy();
  return database;
}

describe('the settings of the server', () => {
  it('do not matter: times and texts are read as they were written', async () => {
    const service = await ServiceUnderTest.on(await withSettings(ODD_SETTINGS));
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
    await service.stop();
  });

  if (!onPostgres) return;

  it('may end statements early: a start still waits for another that prepares the database', async () => {
    const database = await withSettings(["statement_timeout = '50ms'", "idle_session_timeout = '50ms'"]);
    const location = parseDatabaseUrl(database.url);
    const order: string[] = [];
    const prepare = (name: string) =>
      withMigrationLock(location, async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 300));
        order.push(`${name} ends`);
      });
    const first = prepare('a');
    while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await Promise.all([first, prepare('b')]);
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    await database.drop();
  });

  it.each(['LATIN1', 'SQL_ASCII'])('must be UTF8: a database in %s is refused', async (encoding) => {
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
