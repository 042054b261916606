import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { aDept, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { limitIsLowered } from '../support/examined-databases';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';
import { resendWhenBusy } from '../support/when-busy';

const PATH = '/system/user-api';
const PASSWORD = 'a-long-password';

describe('accounts', () => {
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

  const read = async (userId: number, by = api) =>
    (await by.get(`${PATH}/${userId}`)).body.data as Record<string, unknown>;
  const row = (userId: number) => service.dataSource.manager.findOneByOrFail(AccountEntity, { userId });
  const reasonOf = async (answer: ReturnType<ApiClient['get']>) => {
    const { status, refusal } = await answer;
    return status === 200 ? '200' : `${status} ${refusal.reason}`;
  };

  it('an account is created with defaults, and its password is never seen again', async () => {
    const answer = await api.post(PATH, { username: ' bob ', password: PASSWORD });
    expect(answer.body).toEqual({ code: 200, msg: '操作成功', data: null });
    const read = await api.get(answer.headers.location!);
    expect(read.body.data).toEqual({
      userId: expect.any(Number) as number,
      ...{ username: 'bob', nickname: null, deptId: null, email: null, phone: null, roles: ['member'] },
      ...{ managedDeptIds: [], dataScope: 'all', scopeDeptIds: [] },
      ...{ status: '0', tenantId, createBy: 'alice', updateBy: '', updateTime: null },
      createTime: expect.stringMatching(/^\d{4}-/) as string,
    });
    const stored = await row((read.body.data as { userId: number }).userId);
    expect(stored.passwordHash).toMatch(/^\$argon2id\$/);
    expect(service.log.join('')).not.toContain(PASSWORD);
  });

  it('an account is replaced whole, and keeps its password', async () => {
    const deptId = await aDept(api);
    const roles = ['tenant_admin', 'member'];
    const full = { nickname: '鲍勃', deptId, email: 'b@c.cn', phone: '1', roles, status: '1' };
    const userId = await aUser(api, full);
    const before = await row(userId);
    expect(await read(userId)).toMatchObject(full);
    expect((await api.put(PATH, { userId, username: before.username })).status).toBe(200);
    const defaults = { nickname: null, deptId: null, email: null, roles: ['member'], status: '0' };
    expect(await read(userId)).toMatchObject({ ...defaults, updateBy: 'alice' });
    expect((await row(userId)).passwordHash).toBe(before.passwordHash);
  });

  it('names of accounts are unique in their tenant while they live', async () => {
    const userId = await aUser(api, { username: 'carol' });
    expect(await reasonOf(api.post(PATH, { username: 'carol', password: PASSWORD }))).toBe(
      '409 USERNAME_TAKEN',
    );
    const other = await aUser(api, { username: 'other' });
    expect(await reasonOf(api.put(PATH, { userId: other, username: 'carol' }))).toBe('409 USERNAME_TAKEN');
    expect(await reasonOf(root.post(PATH, { username: 'carol', password: PASSWORD }))).toBe('200');
    await api.delete(`${PATH}/${userId}`);
    expect(await reasonOf(api.post(PATH, { username: 'carol', password: PASSWORD }))).toBe('200');
    expect((await row(userId)).delFlag).toBe('2');
  });

  it('an account belongs to a valid department of its tenant, or to none', async () => {
    const [disabled, foreign] = [await aDept(api, { status: '1' }), await aDept(root)];
    const make = (deptId: unknown) =>
      api.post(PATH, { username: `u${String(deptId)}`, password: PASSWORD, deptId });
    expect(await reasonOf(make(999_999))).toBe('404 DEPT_NOT_FOUND');
    expect(await reasonOf(make(foreign))).toBe('404 DEPT_NOT_FOUND');
    expect(await reasonOf(make(disabled))).toBe('409 DEPT_DISABLED');
    const deptId = await aDept(api);
    const userId = await aUser(api, { deptId });
    expect(await reasonOf(api.delete(`/system/dept-api/${deptId}`))).toBe('409 DEPT_HAS_USERS');
    await api.delete(`${PATH}/${userId}`);
    expect(await reasonOf(api.delete(`/system/dept-api/${deptId}`))).toBe('200');
  });

  it('accounts refuse wrong fields by name, and change nothing', async () => {
    const good = { username: 'x', password: PASSWORD };
    const wrong = {
      username: [undefined, ' ', 'a'.repeat(65), 5],
      password: [undefined, 'short', 'x'.repeat(129), 12345678],
      roles: ['member', ['root'], [['member']]],
      ...{ deptId: ['x'], email: ['x'], status: ['2'], nickname: ['a'.repeat(65)], phone: ['a'.repeat(33)] },
    };
    const all = Object.entries(wrong).flatMap(([field, values]) =>
      values.map((value) => [field, value] as const),
    );
    for (const [field, value] of all) {
      expectInvalid(await api.post(PATH, { ...good, [field]: value }), field, value);
    }
    expect(((await api.get(PATH)).body.data as { rows: unknown[] }).rows).toEqual([]);
  });

  it('accounts are listed page by page, and a forged cursor is refused', async () => {
    const made = [await aUser(api), await aUser(api), await aUser(api)];
    const page = async (query: string) =>
      (await api.get(`${PATH}?${query}`)).body.data as {
        rows: { userId: number }[];
        nextCursor: string;
        hasMore: boolean;
      };
    const first = await page('limit=2');
    expect([first.rows.map(({ userId }) => userId), first.hasMore]).toEqual([made.slice(0, 2), true]);
    const second = await page(`limit=2&cursor=${first.nextCursor}`);
    expect([second.rows.map(({ userId }) => userId), second.nextCursor]).toEqual([made.slice(2), null]);
    for (const query of ['cursor=x', 'cursor=', 'limit=0', 'limit=501', 'limit=x', 'cursor=a&cursor=b']) {
      expect([query, (await api.get(`${PATH}?${query}`)).status]).toEqual([query, 400]);
    }
  });

  describe('roles', () => {
    it('nobody grants or manages a role above the own, and superadmin exists only on the platform', async () => {
      const make = (by: ApiClient, roles: string[]) =>
        reasonOf(by.post(PATH, { username: `r${Math.random()}`, password: PASSWORD, roles }));
      const platformAdmin = service.as({ roles: ['tenant_admin'] });
      expect(await make(api, ['tenant_admin'])).toBe('200');
      expect(await make(api, ['superadmin'])).toBe('403 ROLE_TOO_HIGH');
      expect(await make(platformAdmin, ['superadmin'])).toBe('403 ROLE_TOO_HIGH');
      expect(await make(root, ['superadmin'])).toBe('200');
      const userId = await aUser(root, { roles: ['superadmin'], username: 'super' });
      expect(await reasonOf(platformAdmin.put(PATH, { userId, username: 'super' }))).toBe(
        '403 ROLE_TOO_HIGH',
      );
      const other = await aUser(root);
      const both = await platformAdmin.delete(`${PATH}/${other},${userId}`);
      expectRefused(both, 403, 'ROLE_TOO_HIGH', { ids: [userId] });
      const unknown = await root.delete(`${PATH}/888888888,${other},777777777`);
      expectRefused(unknown, 404, 'USER_NOT_FOUND', { ids: [777_777_777, 888_888_888] });
      const reset = { userId, newPassword: 'taken-over-now' };
      expect(await reasonOf(platformAdmin.put(`${PATH}/password`, reset))).toBe('403 ROLE_TOO_HIGH');
    });

    it('an administrator above makes the administrators of a tenant below, and nothing else there', async () => {
      const child = await aTenant(api);
      const make = (by: ApiClient, body: object) =>
        reasonOf(by.post(PATH, { username: 'boss', password: PASSWORD, ...body }));
      const admin = { tenantId: child.tenantId, roles: ['tenant_admin'] };
      expect(await make(api, admin)).toBe('200');
      expect(await make(api, { ...admin, username: 'b2', roles: ['member'] })).toBe('403 ROLE_TOO_HIGH');
      expect(await make(api, { ...admin, username: 'b3', roles: ['superadmin'] })).toBe('403 ROLE_TOO_HIGH');
      const stranger = service.as({ tenantId: (await aTenant(root)).tenantId });
      for (const [by, tenant] of [
        [stranger, child.tenantId],
        [api, '000000'],
        [api, '999999'],
        [api, '租户'],
      ] as const) {
        expect(await make(by, { ...admin, tenantId: tenant, username: 'b4' })).toBe('404 TENANT_NOT_FOUND');
      }
      const made = await service.dataSource.manager.findOneByOrFail(AccountEntity, {
        tenantId: child.tenantId,
      });
      expect(made).toMatchObject({ username: 'boss', roles: 'tenant_admin', createBy: 'alice' });
      expect(await reasonOf(api.get(`${PATH}/${made.userId}`))).toBe('404 USER_NOT_FOUND');
      expect(await reasonOf(api.put(PATH, { userId: made.userId, username: 'x' }))).toBe(
        '404 USER_NOT_FOUND',
      );
    });

    describe('an account in a tenant that is deleted while the password is hashed', () => {
      const deletedMeanwhile = async (by: ApiClient, doomed: { id: string; tenantId: string }) => {
        const hasher = service.app.get(PasswordHasher);
        const hash = hasher.hash.bind(hasher);
        const slow = jest.spyOn(hasher, 'hash').mockImplementationOnce(async (password) => {
          expect((await root.delete(`/system/tenant-api/${doomed.id}`)).status).toBe(200);
          return hash(password);
        });
        const { tenantId } = doomed;
        const body = { username: 'late', password: PASSWORD, roles: ['tenant_admin'], tenantId };
        const answer = await reasonOf(by.post(PATH, body));
        slow.mockRestore();
        expect(await service.dataSource.manager.existsBy(AccountEntity, { tenantId })).toBe(false);
        return answer;
      };

      it('an account of another tenant that is deleted meanwhile is refused as not found', async () => {
        expect(await deletedMeanwhile(api, await aTenant(api))).toBe('404 TENANT_NOT_FOUND');
      });

      it('an account of the own tenant that is deleted meanwhile is refused as one that is gone', async () => {
        const own = await aTenant(root);
        const admin = service.as({ tenantId: own.tenantId });
        expect(await deletedMeanwhile(admin, own)).toBe('403 TENANT_DELETED');
      });
    });

    it('the last live superadmin cannot be deleted, disabled or demoted', async () => {
      const supers = await service.dataSource.manager.findBy(AccountEntity, {
        roles: 'superadmin',
        nameKey: 0,
      });
      const [last, ...others] = supers.map(({ userId, username }) => ({ userId, username }));
      for (const { userId } of others) expect(await reasonOf(root.delete(`${PATH}/${userId}`))).toBe('200');
      const refused = '409 LAST_SUPERADMIN';
      const batch = await root.delete(`${PATH}/${last!.userId},${await aUser(root)}`);
      expectRefused(batch, 409, 'LAST_SUPERADMIN', { ids: [last!.userId] });
      expect(await reasonOf(root.put(PATH, { ...last, roles: ['superadmin'], status: '1' }))).toBe(refused);
      expect(await reasonOf(root.put(PATH, { ...last }))).toBe(refused);
      expect(await reasonOf(root.put(PATH, { ...last, roles: ['superadmin'] }))).toBe('200');
    });
  });

  describe('the limit of a tenant', () => {
    it('the limit of accounts is held exactly, however many are made at once, and from above too', async () => {
      const limited = await aTenant(root, { accountCount: 7 });
      const admin = service.as({ tenantId: limited.tenantId });
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) => {
          const account = { username: `u${n}`, password: PASSWORD, roles: ['tenant_admin'] };
          return resendWhenBusy(() =>
            (n % 2 ? admin : root).post(PATH, { ...account, tenantId: limited.tenantId }),
          );
        }),
      );
      const made = answers.filter(({ status }) => status === 200);
      expect(made).toHaveLength(7);
      for (const { status, refusal } of answers)
        if (status !== 200) expect([status, refusal.reason]).toEqual([409, 'ACCOUNT_LIMIT']);
      const count = await service.dataSource.manager.countBy(AccountEntity, { tenantId: limited.tenantId });
      expect(count).toBe(7);
      const { rows } = (await admin.get(PATH)).body.data as { rows: { userId: number }[] };
      await admin.delete(`${PATH}/${rows[0]!.userId}`);
      expect(await reasonOf(admin.post(PATH, { username: 'again', password: PASSWORD }))).toBe('200');
    });

    it('accounts stay when the limit is lowered below their number; no more are made, and the doctor notes it', async () => {
      const { id, tenantId, tenantName } = await aTenant(root, { accountCount: 2 });
      const admin = service.as({ tenantId });
      for (const username of ['a', 'b']) await admin.post(PATH, { username, password: PASSWORD });
      limitIsLowered(service.database, tenantId);
      expect(await reasonOf(root.put('/system/tenant-api', { id, tenantName, accountCount: 1 }))).toBe('200');
      expect(await reasonOf(admin.post(PATH, { username: 'c', password: PASSWORD }))).toBe(
        '409 ACCOUNT_LIMIT',
      );
      expect(await service.dataSource.manager.countBy(AccountEntity, { tenantId, delFlag: '0' })).toBe(2);
      expect(await new ServiceDoctor(service.dataSource).examine()).toEqual({
        findings: [],
        repaired: [],
        notes: [`tenant ${tenantId}: has more accounts than its limit allows now`],
      });
    });
  });
});
