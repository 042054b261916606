import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { createConnection } from 'mysql2/promise';
import { decode } from 'jsonwebtoken';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/data-source';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { Doctor } from '../../src/doctor/doctor';
import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { AccountEntity, SessionEntity } from '../../src/server/auth/account.entity';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { createServiceDataSource, migrate } from '../../src/server/service-data-source';
import type { ApiClient, ThrowAwayDatabase } from '../../src/server/testing';
import { breakOnPurpose } from '../support/examined-databases';
import { HandClock } from '../support/hand-clock';
import { aTenantRow, bulkInsert, life } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { schemaChanges } from '../support/schema-changes';
import { emptyDatabase, onInnodb, onPostgres } from '../support/test-database';

const FOLDER = join(__dirname, 'filled-by-0.1');
const KIND = onInnodb ? 'mariadb' : 'sqlite';
/** Shortly after the dump was made: its session and its idempotency key are still good. */
const THEN = '2026-11-16T03:00:00Z';

interface Row {
  readonly deptId: number;
}

/** What version 0.1 answered before the dump was made. */
interface Facts {
  readonly refreshToken: string;
  readonly tenantId: string;
  readonly tenant: { readonly id: string };
  readonly plant: string;
  readonly deleted: string;
  readonly deletedDept: number;
  readonly depts: readonly Row[];
  readonly tree: object;
  readonly named: readonly number[];
  readonly users: readonly { readonly userId: number }[];
}

const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');

async function load(database: ThrowAwayDatabase): Promise<void> {
  if (!onInnodb) {
    const file = new DatabaseSync(database.url.slice('sqlite:'.length));
    file.exec(read('sqlite.sql'));
    file.close();
    return;
  }
  const connection = await createConnection({
    uri: database.url,
    multipleStatements: true,
    charset: 'utf8mb4',
  });
  await connection.query(read('mariadb.sql'));
  await connection.end();
}

async function recordedMigrations(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM tenantry_migrations ORDER BY id');
  return rows.map(({ name }) => name);
}

/** By the time stamps at their ends, in whose order they run. */
function listedMigrations({ migrations }: DataSource): string[] {
  return migrations.map(({ name = '' }) => name).sort((a, b) => (a.slice(-13) < b.slice(-13) ? -1 : 1));
}

/** Version 0.1 did not run on PostgreSQL. */
if (onPostgres) {
  it('a database on PostgreSQL has only the migrations of the list', async () => {
    const service = await ServiceUnderTest.start();
    expect(await recordedMigrations(service.dataSource)).toEqual(listedMigrations(service.dataSource));
    await service.stop();
  });
} else {
  describe('a database that version 0.1 has filled', () => {
    const facts = JSON.parse(read(`${KIND}.json`)) as Facts;
    let service: ServiceUnderTest;
    let manager: ApiClient;
    let platform: ApiClient;

    beforeAll(async () => {
      const database = await emptyDatabase();
      await load(database);
      // As the operator does who has stopped all replicas of 0.1.
      const dataSource = await (await createServiceDataSource(parseDatabaseUrl(database.url))).initialize();
      await migrate(dataSource, true);
      await dataSource.destroy();
      const clock = new HandClock();
      clock.set(THEN);
      service = await ServiceUnderTest.on(database, {}, clock);
      manager = service.as({ tenantId: facts.tenantId, username: 'manager' });
      platform = service.as({ roles: ['superadmin'] });
    });
    afterAll(() => service.stop());

    it('a database of 0.1 gets the schema of this version, and the doctor finds nothing wrong', async () => {
      expect(await schemaChanges(service.dataSource)).toEqual([]);
      expect(await new ServiceDoctor(service.dataSource).examine()).toMatchObject({
        findings: [],
        notes: [],
      });
    });

    it('a database of 0.1 keeps the record of its migrations, of which only the last is in the list', async () => {
      const names = await recordedMigrations(service.dataSource);
      const listed = listedMigrations(service.dataSource);
      expect(names.slice(0, 11)).toEqual(expect.arrayContaining(['Tenants1763164800000', listed[0]]));
      expect(names.slice(10)).toEqual(listed);
      expect(await service.dataSource.showMigrations()).toBe(false);
    });

    it('a database of 0.1 answers every read as version 0.1 did', async () => {
      for (const dept of facts.depts) {
        expect((await manager.get(`/system/dept-api/${dept.deptId}`)).body.data).toEqual(dept);
      }
      expect((await manager.get('/system/dept-api/tree')).body.data).toEqual(facts.tree);
      expect((await platform.get(`/system/tenant-api/${facts.tenant.id}`)).body.data).toEqual(facts.tenant);
      expect((await manager.get('/system/user-api')).body.data).toMatchObject({ rows: facts.users });
      const { rows } = (await manager.get(`/system/dept-api?deptName=${encodeURIComponent('门 1')}`)).body
        .data as { rows: Row[] };
      expect(rows.map(({ deptId }) => deptId)).toEqual(facts.named);
    });

    it('what was deleted in 0.1 stays deleted', async () => {
      expect((await manager.get(`/system/dept-api/${facts.deletedDept}`)).status).toBe(404);
      expect((await platform.get(`/system/tenant-api/${facts.deleted}`)).status).toBe(404);
    });

    it('sessions, passwords and idempotency keys of 0.1 are known', async () => {
      const refreshed = await service.anonymous.post('/auth/refresh', { refreshToken: facts.refreshToken });
      expect(refreshed.status).toBe(200);
      const login = { tenantId: facts.tenantId, username: 'zhangsan', password: 'a-long-password' };
      expect((await service.anonymous.post('/auth/login', login)).status).toBe(200);
      const again = await manager.post(
        '/system/dept-api',
        { deptName: '只建一次' },
        { 'idempotency-key': 'once-1' },
      );
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    });

    it('a database of 0.1 takes new departments and tenants, and finds them', async () => {
      const dept = await manager.post('/system/dept-api', {
        deptName: '升级后的部门',
        parentId: facts.depts[0]!.deptId,
      });
      expect((await manager.get(dept.headers.location!)).body.data).toMatchObject({
        deptName: '升级后的部门',
      });
      const found = await manager.get(`/system/dept-api?deptName=${encodeURIComponent('级后')}`);
      expect(found.body.data).toMatchObject({ rows: [{ deptName: '升级后的部门' }] });
      const tenant = await platform.post('/system/tenant-api', {
        tenantName: '升级后的租户',
        tenantParent: facts.tenantId,
      });
      const { id } = (await platform.get(tenant.headers.location!)).body.data as { id: string };
      // Ids grow: a new tenant comes after those that 0.1 has made.
      expect(BigInt(id)).toBeGreaterThan(BigInt(facts.plant));
    });
  });

  it('a database that a host has filled with version 0.1 gets the tables of the library, and keeps those of accounts as they are', async () => {
    const database = await emptyDatabase();
    await load(database);
    const dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
    const accounts = () => dataSource.query<object[]>('SELECT * FROM tenantry_account ORDER BY user_id');
    const before = await accounts();
    expect(before.length).toBeGreaterThan(1);
    await dataSource.runMigrations();
    expect((await recordedMigrations(dataSource)).slice(10)).toEqual(listedMigrations(dataSource));
    expect(await accounts()).toEqual(before);
    expect(await schemaChanges(dataSource)).toEqual([]);
    expect(await new Doctor(dataSource).examine()).toMatchObject({ findings: [], notes: [] });
    await dataSource.destroy();
    await breakOnPurpose(database);
    await database.drop();
  });
}

/** The last migration that version 0.4.0 had: everything up to it has not changed since. */
const LAST_OF_0_4 = 1763164800023;
const PASSWORD = 'a-long-password';

/** The columns of the tables that the service has added to. */
async function columnsOf(dataSource: DataSource): Promise<Record<string, string[] | undefined>> {
  const runner = dataSource.createQueryRunner();
  const columns: Record<string, string[] | undefined> = {};
  for (const name of ['tenantry_account', 'tenantry_session', 'tenantry_key'])
    columns[name] = (await runner.getTable(name))?.columns
      .map(({ name: own, type, length, isNullable }) => `${own} ${type}(${length}) ${isNullable}`)
      .sort();
  await runner.release();
  return columns;
}

describe('a database that version 0.4.0 has filled', () => {
  let database: ThrowAwayDatabase;
  let service: ServiceUnderTest;
  let before: Record<string, string[] | undefined>;
  let tenantId: string;
  const sessionId = randomUUID();
  const secret = 'kept-by-a-client-over-the-upgrade';

  beforeAll(async () => {
    database = await emptyDatabase();
    const old = await createServiceDataSource(parseDatabaseUrl(database.url));
    const all = Object.values(old.options.migrations ?? []) as { name: string }[];
    const ofOld = all.filter(({ name }) => Number(name.slice(-13)) <= LAST_OF_0_4) as unknown as string[];
    await old.setOptions({ migrations: ofOld }).initialize();
    await old.runMigrations();
    before = await columnsOf(old);
    tenantId = await aTenantRow(old);
    const passwordHash = await new PasswordHasher().hash(PASSWORD);
    const account = (username: string, roles: string, userId: number) =>
      ({
        ...life(),
        userId,
        tenantId,
        username,
        usernameKey: username,
        nameKey: 0,
        passwordHash,
        roles,
      }) as const;
    // Only the columns that it had.
    const accounts = [account('boss', 'tenant_admin', 71), account('reader', 'member', 72)];
    await bulkInsert(old, AccountEntity, accounts);
    const refreshHash = createHash('sha256').update(secret).digest('hex');
    const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 86_400_000)];
    await bulkInsert(old, SessionEntity, [
      { sessionId, tenantId, userId: 71, refreshHash, createdAt, expiresAt },
    ]);
    await old.destroy();
    service = await ServiceUnderTest.on(database);
  });
  afterAll(() => database.drop());

  const login = (username: string, scope?: string) =>
    service.anonymous.post('/auth/login', { tenantId, username, password: PASSWORD, scope });

  it('a database of 0.4.0 gets the schema of this version, and the doctor finds nothing wrong', async () => {
    expect(before.tenantry_key).toBeUndefined();
    expect(before.tenantry_account).not.toContainEqual(expect.stringContaining('data_scope'));
    expect(await schemaChanges(service.dataSource)).toEqual([]);
    expect(await new ServiceDoctor(service.dataSource).examine()).toMatchObject({ findings: [], notes: [] });
  });

  it('an account of 0.4.0 manages no department, and touches all rows of its tenant', async () => {
    const { rows } = (await service.as({ tenantId }).get('/system/user-api')).body.data as { rows: object[] };
    const none = { managedDeptIds: [], dataScope: 'all', scopeDeptIds: [] };
    expect(rows).toMatchObject([
      { username: 'boss', roles: ['tenant_admin'], ...none },
      { username: 'reader', roles: ['member'], ...none },
    ]);
    const { accessToken } = (await login('reader')).body.data as { accessToken: string };
    const me = (await service.anonymous.as(accessToken).get('/auth/me')).body.data;
    expect(me).toMatchObject({ roles: ['member'], managedDeptIds: [], dataScope: [{ kind: 'all' }] });
  });

  it('a session of 0.4.0 is refreshed, and nothing limits it', async () => {
    const refreshed = await service.anonymous.post('/auth/refresh', {
      refreshToken: `${sessionId}.${secret}`,
    });
    const { accessToken, scope } = refreshed.body.data as { accessToken: string; scope: string };
    expect([refreshed.status, decode(accessToken)]).toEqual([200, expect.not.objectContaining({ scope })]);
    const api = service.anonymous.as(accessToken);
    expect((await api.get('/auth/me')).body.data).toMatchObject({ permissions: scope.split(' ') });
    expect((await api.post('/system/dept-api', { deptName: '升级后' })).status).toBe(200);
  });

  it('a database of this version can be taken back to the schema of 0.4.0: limited sessions end, others go on', async () => {
    expect((await login('boss', 'dept:read')).status).toBe(200);
    await service.leave();
    const dataSource = await (await createServiceDataSource(parseDatabaseUrl(database.url))).initialize();
    const later = dataSource.migrations.filter(({ name = '' }) => Number(name.slice(-13)) > LAST_OF_0_4);
    for (let left = later.length; left > 0; left -= 1) await dataSource.undoLastMigration();
    expect(await columnsOf(dataSource)).toEqual(before);
    const [counted] = await dataSource.query<{ n: number | string }[]>(
      'SELECT COUNT(*) AS n FROM tenantry_session',
    );
    // That of the client, and the one that `reader` has begun.
    expect(Number(counted?.n)).toBe(2);
    await dataSource.runMigrations();
    await dataSource.destroy();
  });
});
