import { AccountEntity } from '../../src/server/auth/account.entity';
import { aDept, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { changePage } from '../support/follower';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/user-api';

interface Entry {
  readonly operation: string;
  readonly by: string;
  readonly id: number;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

describe('an account', () => {
  const service = ServiceUnderTest.use();
  let root: ApiClient;
  let tenantId: string;
  let api: ApiClient;

  beforeAll(() => {
    root = service.as({ roles: ['superadmin'], username: 'root' });
  });
  beforeEach(async () => {
    tenantId = (await aTenant(root)).tenantId;
    api = service.as({ tenantId, username: 'alice' });
  });

  const read = async (userId: number) =>
    (await api.get(`${PATH}/${userId}`)).body.data as Record<string, unknown>;
  const row = (userId: number) => service.dataSource.manager.findOneByOrFail(AccountEntity, { userId });
  const patch = (userId: number, body: unknown, headers?: Record<string, string>) =>
    api.patch(`${PATH}/${userId}`, body, headers);

  describe('changing a part of an account', () => {
    it('a patch of an account keeps what it does not name, and resets what it sets to null', async () => {
      const deptId = await aDept(api);
      const roles = ['tenant_admin', 'member'];
      const full = { nickname: '鲍勃', deptId, email: 'b@c.cn', phone: '1', roles, status: '1' };
      const userId = await aUser(api, full);
      const before = await row(userId);
      const answer = await patch(userId, { nickname: '小鲍', email: null });
      expect([answer.status, answer.body.data]).toEqual([200, null]);
      expect(await read(userId)).toMatchObject({
        ...{ ...full, username: before.username, nickname: '小鲍', email: null, updateBy: 'alice' },
      });
      await patch(userId, { deptId: null, phone: null, roles: null, status: null, nickname: null });
      const defaults = { nickname: null, deptId: null, phone: null, roles: ['member'], status: '0' };
      expect(await read(userId)).toMatchObject(defaults);
      expect((await row(userId)).passwordHash).toBe(before.passwordHash);
    });

    it('a patch of an account takes the id from the path, as application/json or as a merge patch', async () => {
      const userId = await aUser(api);
      const type = { 'content-type': 'application/merge-patch+json' };
      expect((await patch(userId, { nickname: 'a' }, type)).status).toBe(200);
      expect((await patch(userId, { userId: String(userId), nickname: 'b' })).status).toBe(200);
      expectInvalid(await patch(userId, { userId: userId + 1 }), 'userId');
    });

    it('a patch of an account has the rules of the whole replacement', async () => {
      const userId = await aUser(api);
      await aUser(api, { username: 'other' });
      const disabled = await aDept(api, { status: '1' });
      const before = await row(userId);
      expectRefused(await patch(userId, { username: 'other' }), 409, 'USERNAME_TAKEN');
      expectRefused(await patch(userId, { deptId: 987_654 }), 404, 'DEPT_NOT_FOUND');
      expectRefused(await patch(userId, { deptId: disabled }), 409, 'DEPT_DISABLED');
      expectRefused(await patch(userId, { tenantId: '000000' }), 403, 'TENANT_MISMATCH');
      expectRefused(await patch(userId, { roles: ['superadmin'] }), 403, 'ROLE_TOO_HIGH');
      expectRefused(await patch(987_654, { nickname: 'x' }), 404, 'USER_NOT_FOUND');
      for (const [field, value] of Object.entries({ username: null, status: '2', email: 'x', roles: ['x'] }))
        expectInvalid(await patch(userId, { [field]: value }), field, value);
      expectInvalid(await patch(userId, { username: 'a\u200bb' }), 'username');
      // A password is not a field of an account: it is changed elsewhere.
      expect((await patch(userId, { password: 'another-long-password' })).status).toBe(200);
      expect(await row(userId)).toMatchObject({
        passwordHash: before.passwordHash,
        username: before.username,
      });
    });

    it('a patch by a lower role is refused, and the last superadmin stays one', async () => {
      const userId = await aUser(root, { roles: ['superadmin'] });
      const platformAdmin = service.as({ roles: ['tenant_admin'] });
      expectRefused(await platformAdmin.patch(`${PATH}/${userId}`, { nickname: 'x' }), 403, 'ROLE_TOO_HIGH');
      const supers = await service.dataSource.manager.findBy(AccountEntity, {
        ...{ roles: 'superadmin', nameKey: 0, status: '0' },
      });
      for (const each of supers.filter((found) => found.userId !== userId))
        expect((await root.patch(`${PATH}/${each.userId}`, { status: '1' })).status).toBe(200);
      for (const body of [
        { roles: null },
        { roles: ['tenant_admin'] },
        { status: '1' },
        { dataScope: 'own' },
      ])
        expectRefused(await root.patch(`${PATH}/${userId}`, body), 409, 'LAST_SUPERADMIN');
      expect((await root.patch(`${PATH}/${userId}`, { nickname: 'still' })).status).toBe(200);
    });

    it('a patch that disables an account signs it out', async () => {
      const userId = await aUser(api, { username: 'bob', password: 'a-long-password' });
      const login = { tenantId, username: 'bob', password: 'a-long-password' };
      const { accessToken } = (await service.anonymous.post('/auth/login', login)).body.data as {
        accessToken: string;
      };
      const bob = service.anonymous.as(accessToken);
      expect((await bob.get('/auth/me')).status).toBe(200);
      await patch(userId, { status: '1' });
      expect((await bob.get('/auth/me')).status).toBe(401);
    });
  });

  describe('the history of an account', () => {
    const historyOf = async (userId: number, query = '', by = api) => {
      const answer = await by.get(`${PATH}/${userId}/history${query}`);
      expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.anything()]);
      return answer.body.data as { rows: Entry[]; nextCursor: string | null; hasMore: boolean };
    };

    it('the history of an account has all that was done to it, the newest first, also after it was deleted', async () => {
      const userId = await aUser(api, { username: 'bob' });
      await patch(userId, { nickname: 'B' });
      await service.as({ tenantId, username: 'carol' }).put(PATH, { userId, username: 'robert' });
      await api.delete(`${PATH}/${userId}`);
      const { rows } = await historyOf(userId);
      expect(rows.map(({ operation, by, id }) => [operation, by, id])).toEqual([
        ['deleted', 'alice', userId],
        ['updated', 'carol', userId],
        ['updated', 'alice', userId],
        ['created', 'alice', userId],
      ]);
      expect(rows[1]).toMatchObject({
        before: { username: 'bob', nickname: 'B' },
        after: { username: 'robert', nickname: null },
      });
      const first = await historyOf(userId, '?limit=3');
      expect([first.rows.length, first.hasMore]).toEqual([3, true]);
      const rest = await historyOf(userId, `?limit=3&cursor=${first.nextCursor}`);
      expect(rest.rows.map(({ operation }) => operation)).toEqual(['created']);
    });

    it('the history of an account has no password, neither old nor new, nor a hash of one', async () => {
      const userId = await aUser(api, { password: 'the-first-password' });
      await api.put(`${PATH}/password`, { userId, newPassword: 'the-second-password' });
      const { rows } = await historyOf(userId);
      expect(rows.map(({ operation }) => operation)).toEqual(['updated', 'created']);
      expect(Object.keys(rows[0]!.after!).sort()).toEqual(['updateBy', 'updateTime']);
      const told = JSON.stringify([rows, (await changePage(api)).rows]);
      expect(told).not.toMatch(/password|hash|argon/i);
    });
  });
});
