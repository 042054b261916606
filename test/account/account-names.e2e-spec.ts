import type { DataSource } from 'typeorm';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { dialectOf } from '../../src/database/dialects';
import { type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/user-api';
const PASSWORD = 'a-long-password';

describe('user names', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => {
    tenantId = (await aTenant(service.as({ roles: ['superadmin'] }))).tenantId;
    api = service.as({ tenantId });
  });

  const create = (username: string) => api.post(PATH, { username, password: PASSWORD });
  const login = (username: string) =>
    service.anonymous.post('/auth/login', { tenantId, username, password: PASSWORD });

  it.each([
    ['zero-width space', 'ad\u200bmin'],
    ['zero-width joiner', 'admin\u200d'],
    ['byte order mark inside', 'ad\ufeffmin'],
    ['direction mark', '\u202eadmin'],
    ['soft hyphen', 'ad\u00admin'],
    ['variation selector', 'admin\ufe0f'],
    ['Hangul filler', 'admin\u3164'],
    ['Braille blank', 'admin\u2800x'],
    ['tag', 'admin\u{e0061}'],
    ['control', 'ad\u0007min'],
  ])('a user name is refused with a %s in it', async (_, username) => {
    const userId = await aUser(api, { username: 'plain' });
    for (const answer of [await create(username), await api.put(PATH, { userId, username })]) {
      expectRefused(answer, 400, 'INVALID_INPUT');
      expect(answer.refusal.fields).toEqual([{ field: 'username', message: '不能包含不可见字符' }]);
    }
    const { rows } = (await api.get(PATH)).body.data as { rows: { username: string }[] };
    expect(rows.map((row) => row.username)).toEqual(['plain']);
  });

  it.each([
    ['full-width letters', 'admin', 'ａｄｍｉｎ'],
    ['a ligature', 'office', 'oﬃce'],
    ['another composition', 'ren\u00e9', 'rene\u0301'],
    ['full-width brackets', '张三(销售)', '张三（销售）'],
  ])('a user name is taken by one that looks the same: %s', async (_, one, other) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const userId = await aUser(api, { username: first });
      expect((await create(second)).refusal.reason).toBe('USERNAME_TAKEN');
      const someone = await aUser(api, { username: 'someone' });
      const rename = await api.put(PATH, { userId: someone, username: second });
      expect(rename.refusal.reason).toBe('USERNAME_TAKEN');
      // It is shown as it was given, and both ways to write it sign in.
      expect((await api.get(`${PATH}/${userId}`)).body.data).toMatchObject({ username: first });
      expect([(await login(first)).status, (await login(second)).status]).toEqual([200, 200]);
      await api.delete(`${PATH}/${userId},${someone}`);
    }
  });

  it('a user name may be written in another way by its own account', async () => {
    const userId = await aUser(api, { username: 'ａｌｉｃｅ' });
    expect((await api.put(PATH, { userId, username: 'alice' })).status).toBe(200);
    expect((await login('alice')).status).toBe(200);
    expect((await create('ａｌｉｃｅ')).refusal.reason).toBe('USERNAME_TAKEN');
  });

  it('user names tell upper from lower case', async () => {
    await aUser(api, { username: 'admin' });
    expect((await create('Admin')).status).toBe(200);
    expect((await login('ADMIN')).status).toBe(401);
  });

  it('a user name is at most 64 characters long, also when it is written plainly', async () => {
    expectInvalid(await create('\ufdfa'.repeat(4)), 'username');
  });
});

describe('user names of version 0.1', () => {
  const NAMES = ['ａｄｍｉｎ', 'ad\u200bmin', 'admin', '张三（销售）', '\ufdfa'.repeat(4), '李四'];
  let service: ServiceUnderTest;

  beforeAll(async () => {
    const database = await emptyDatabase();
    const dataSource = await database.open(serviceTables);
    const { length } = dataSource.migrations.filter(({ name = '' }) => name.slice(-13) >= '1763164800012');
    for (let n = 0; n < length; n += 1) await dataSource.undoLastMigration();
    for (const username of NAMES) await insertAs01(dataSource, username);
    await dataSource.runMigrations();
    service = await ServiceUnderTest.on(database);
  });
  afterAll(() => service.stop());

  async function insertAs01(dataSource: DataSource, username: string): Promise<void> {
    const passwordHash = await new PasswordHasher().hash(`password of ${username}`);
    const dialect = dialectOf(dataSource);
    await dataSource.query(
      `INSERT INTO tenantry_account (tenant_id, username, name_key, password_hash, roles, failed_logins, status, del_flag,
         create_by, create_time, update_by) VALUES ('000000', ${dialect.place(1)}, 0, ${dialect.place(2)}, 'superadmin', 0, '0', '0', 'seed', '2026-01-01', '')`,
      [username, passwordHash],
    );
  }

  const signIn = async (username: string, password = `password of ${username}`) =>
    (await service.anonymous.post('/auth/login', { username, password })).status;

  it('user names of 0.1 still sign in, each with its own password, also where two look the same', async () => {
    for (const name of NAMES) expect([name, await signIn(name)]).toEqual([name, 200]);
    expect(await signIn('admin', 'password of ａｄｍｉｎ')).toBe(401);
    expect(await signIn('张三(销售)', 'password of 张三（销售）')).toBe(200);
  });

  it('user names of 0.1 can still be changed, and are told from new ones', async () => {
    const root = service.as({ roles: ['superadmin'] });
    const { rows } = (await root.get(PATH)).body.data as { rows: { userId: number; username: string }[] };
    expect(rows.map(({ username }) => username).sort()).toEqual([...NAMES].sort());
    for (const { userId, username } of rows) {
      const body = { userId, username, roles: ['superadmin'], nickname: 'changed' };
      expect([username, (await root.put(PATH, body)).status]).toEqual([username, 200]);
      expect([username, await signIn(username)]).toEqual([username, 200]);
    }
    const taken = await root.post(PATH, { username: '张三(销售)', password: PASSWORD });
    expect(taken.refusal.reason).toBe('USERNAME_TAKEN');
    const { userId } = rows.find(({ username }) => username === 'ad\u200bmin')!;
    expect((await root.put(PATH, { userId, username: 'admin', roles: ['superadmin'] })).status).toBe(409);
    expect((await root.put(PATH, { userId, username: 'plain', roles: ['superadmin'] })).status).toBe(200);
    expect(await signIn('plain', 'password of ad\u200bmin')).toBe(200);
  });
});
