import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { AccountEntity } from '../../src/server/auth/account.entity';
import type { DataScope } from '../../src/tenancy/data-scope';
import { aDept, aTenant, aUser, type Answer, type ApiClient, type Caller } from '../../src/server/testing';
import { grantsMayDangle } from '../support/examined-databases';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/user-api';
const DEPTS = '/system/dept-api';
const PASSWORD = 'a-long-password';
const NEVER = 900_000_000;

/** What accounts are granted, and what those may do with accounts who have a part of a tenant. */
describe('accounts with a part of a tenant', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let all: ApiClient;
  let ids: Record<'company' | 'north' | 'n1' | 'south', number>;
  /** Manages the department north. */
  let part: ApiClient;

  const as = (caller: Partial<Caller>): ApiClient =>
    service.as({ tenantId, username: 'part', roles: ['dept_admin'], managedDeptIds: [ids.north], ...caller });
  const signedIn = async (username: string): Promise<ApiClient> => {
    const { body } = await service.anonymous.post('/auth/login', { tenantId, username, password: PASSWORD });
    return service.anonymous.as((body.data as { accessToken: string }).accessToken);
  };

  beforeEach(async () => {
    ({ tenantId, api: all } = await freshTenant(service));
    const company = await aDept(all);
    const north = await aDept(all, { parentId: company });
    ids = {
      company,
      north,
      n1: await aDept(all, { parentId: north }),
      south: await aDept(all, { parentId: company }),
    };
    part = as({});
  });

  const row = (userId: number) => service.dataSource.manager.findOneByOrFail(AccountEntity, { userId });
  const create = (api: ApiClient, fields: object): Promise<Answer> =>
    api.post(PATH, { username: `u${Math.random()}`, password: PASSWORD, ...fields });
  const done = (answer: Answer): void => {
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
  };
  const outside = (answer: Answer, ...depts: number[]): void => {
    expectRefused(answer, 403, 'OUTSIDE_MANAGED_DEPTS', { ids: depts });
  };
  const beyond = (answer: Answer, ...depts: number[]): void => {
    expectRefused(answer, 403, 'OUTSIDE_DATA_SCOPE', { ids: depts });
  };
  const absent = (answer: Answer): void => {
    expectRefused(answer, 404, 'USER_NOT_FOUND');
  };
  const everything = async (): Promise<string> =>
    JSON.stringify(await service.dataSource.manager.find(AccountEntity, { where: { tenantId } }));

  describe('granted by an administrator of the tenant', () => {
    it('an account keeps the departments that it manages and its data scope, and a patch leaves them alone', async () => {
      const granted = {
        roles: ['dept_admin'],
        managedDeptIds: [ids.north, ids.south],
        dataScope: 'custom',
        scopeDeptIds: [ids.n1],
      };
      const userId = await aUser(all, {
        ...granted,
        managedDeptIds: [ids.north, ids.south, String(ids.north)],
      });
      done(await all.patch(`${PATH}/${userId}`, { nickname: 'x' }));
      const read = (await all.get(`${PATH}/${userId}`)).body.data as object;
      expect(read).toMatchObject({ ...granted, nickname: 'x' });
      done(await all.put(PATH, { ...read, userId }));
      const { rows } = (await all.get(`${PATH}/${userId}/history`)).body.data as {
        rows: { after: object }[];
      };
      expect(rows.at(-1)!.after).toMatchObject(granted);
    });

    it('lists stand only with the role and the data scope that take them', async () => {
      const scoped = { dataScope: 'custom' };
      expectInvalid(await create(all, { roles: ['dept_admin'] }), 'managedDeptIds');
      expectInvalid(await create(all, { roles: ['dept_admin'], managedDeptIds: [] }), 'managedDeptIds');
      expectInvalid(await create(all, { managedDeptIds: [ids.north] }), 'managedDeptIds');
      expectInvalid(
        await create(all, { roles: ['tenant_admin'], managedDeptIds: [ids.north] }),
        'managedDeptIds',
      );
      expectInvalid(await create(all, scoped), 'scopeDeptIds');
      expectInvalid(await create(all, { dataScope: 'dept', scopeDeptIds: [ids.north] }), 'scopeDeptIds');
      expectInvalid(await create(all, { dataScope: 'some' }), 'dataScope');
      const many = Array.from({ length: 51 }, (_, n) => n + 1);
      expectInvalid(await create(all, { roles: ['dept_admin'], managedDeptIds: many }), 'managedDeptIds');
      expectInvalid(await create(all, { ...scoped, scopeDeptIds: many }), 'scopeDeptIds');
      for (const odd of ['1', [[1]], [-1], [1.5], ['x'], [null], { 0: 1 }])
        expectInvalid(
          await create(all, { roles: ['dept_admin'], managedDeptIds: odd }),
          'managedDeptIds',
          odd,
        );
    });

    it('a patch that takes the role dept_admin away must take its departments away, too', async () => {
      const userId = await aUser(all, { roles: ['dept_admin'], managedDeptIds: [ids.north] });
      expectInvalid(await all.patch(`${PATH}/${userId}`, { roles: ['member'] }), 'managedDeptIds');
      expectInvalid(await all.patch(`${PATH}/${userId}`, { managedDeptIds: null }), 'managedDeptIds');
      done(await all.patch(`${PATH}/${userId}`, { roles: ['member'], managedDeptIds: null }));
      expectInvalid(await all.patch(`${PATH}/${userId}`, { roles: ['dept_admin'] }), 'managedDeptIds');
      done(await all.patch(`${PATH}/${userId}`, { roles: ['dept_admin'], managedDeptIds: [ids.south] }));
      expect(await row(userId)).toMatchObject({ roles: 'dept_admin', managedDeptIds: [ids.south] });
    });

    it('departments that the tenant has not are refused, with their ids, as if they never existed', async () => {
      const { api: other } = await freshTenant(service);
      const [foreign, gone] = [await aDept(other), await aDept(all)];
      await all.delete(`${DEPTS}/${gone}`);
      const bad = [foreign, gone, NEVER].sort((a, b) => a - b);
      const refused = (answer: Answer): void => {
        expectRefused(answer, 404, 'DEPT_NOT_FOUND', { ids: bad });
      };
      refused(await create(all, { roles: ['dept_admin'], managedDeptIds: [...bad, ids.north] }));
      refused(await create(all, { dataScope: 'custom', scopeDeptIds: [ids.north, ...bad] }));
      const userId = await aUser(all);
      refused(await all.patch(`${PATH}/${userId}`, { dataScope: 'custom', scopeDeptIds: bad }));
      expectRefused(await all.patch(`${PATH}/${userId}`, { deptId: gone }), 404, 'DEPT_NOT_FOUND', {
        ids: [gone],
      });
    });

    it('an administrator in a tenant below manages departments of that tenant, and none of the one above', async () => {
      const child = (await aTenant(all)).tenantId;
      const below = service.as({ tenantId: child });
      const deptId = await aDept(below);
      const fields = { tenantId: child, roles: ['tenant_admin', 'dept_admin'] };
      const answer = await create(all, { ...fields, managedDeptIds: [ids.north] });
      expectRefused(answer, 404, 'DEPT_NOT_FOUND', { ids: [ids.north] });
      done(await create(all, { ...fields, managedDeptIds: [deptId] }));
    });

    it('a change of what an account manages takes effect at once, and so does the move of its department', async () => {
      const username = `n${Math.random()}`;
      const userId = await aUser(all, { username, roles: ['dept_admin'], managedDeptIds: [ids.north] });
      const api = await signedIn(username);
      const rename = (deptId: number) => api.patch(`${DEPTS}/${deptId}`, { leader: 'x' });
      done(await rename(ids.n1));
      outside(await rename(ids.south), ids.south);
      done(await all.patch(`${PATH}/${userId}`, { managedDeptIds: [ids.south] }));
      done(await rename(ids.south));
      outside(await rename(ids.n1), ids.n1);
      done(await all.patch(`${PATH}/${userId}`, { roles: null, managedDeptIds: null }));
      expectRefused(await rename(ids.south), 403, 'ROLE_REQUIRED');
    });

    it('an account that names departments which were deleted since can be changed, and the doctor notes it', async () => {
      const dept = await aDept(all);
      const userId = await aUser(all, {
        roles: ['dept_admin'],
        managedDeptIds: [ids.north, dept],
        dataScope: 'custom',
        scopeDeptIds: [dept],
      });
      await all.delete(`${DEPTS}/${dept}`);
      const { findings, notes } = await new ServiceDoctor(service.dataSource).examine();
      expect(findings).toEqual([]);
      expect(notes.filter((note) => note.includes(String(userId)))).toEqual([
        `account ${userId}: manages a department that is deleted or missing`,
        `account ${userId}: has a deleted or missing department in its data scope`,
      ]);
      done(await all.patch(`${PATH}/${userId}`, { nickname: 'x' }));
      expectRefused(await create(all, { dataScope: 'custom', scopeDeptIds: [dept] }), 404, 'DEPT_NOT_FOUND');
      await all.patch(`${PATH}/${userId}`, {
        managedDeptIds: [ids.north],
        dataScope: 'all',
        scopeDeptIds: null,
      });
      expect((await new ServiceDoctor(service.dataSource).examine()).notes).toEqual([]);
    });
  });

  describe('handled by a department administrator', () => {
    it('a department administrator creates, reads, lists, changes, deletes and resets accounts of its part', async () => {
      const userId = Number((await create(part, { deptId: ids.n1 })).headers.location!.split('/').at(-1));
      done(await part.get(`${PATH}/${userId}`));
      done(await part.patch(`${PATH}/${userId}`, { nickname: 'x', deptId: ids.north, status: '1' }));
      done(await part.put(PATH, { userId, username: `v${Math.random()}`, deptId: ids.n1 }));
      done(await part.put(`${PATH}/password`, { userId, newPassword: `${PASSWORD} 2` }));
      done(await part.get(`${PATH}/${userId}/history`));
      done(await part.delete(`${PATH}/${userId}`));
      done(await part.get(`${PATH}/${userId}/history`));
      absent(await part.get(`${PATH}/${userId}`));
    });

    it('accounts outside its part are refused to a department administrator, and nothing is told of them', async () => {
      const inside = await aUser(all, { deptId: ids.n1 });
      const others = [
        await aUser(all, { deptId: ids.south }),
        await aUser(all, { deptId: ids.company }),
        await aUser(all),
      ];
      const before = await everything();
      for (const userId of [...others, NEVER]) {
        const refused = userId === NEVER ? absent : outside;
        refused(await part.get(`${PATH}/${userId}`));
        refused(await part.get(`${PATH}/${userId}/history`));
        refused(await part.patch(`${PATH}/${userId}`, { deptId: ids.n1 }));
        refused(await part.put(PATH, { userId, username: 'x', deptId: ids.n1 }));
        refused(await part.put(`${PATH}/password`, { userId, newPassword: PASSWORD }));
        refused(await part.delete(`${PATH}/${inside},${userId}`));
      }
      absent(await part.delete(`${PATH}/${inside},${others[0]},${NEVER}`));
      expect(await everything()).toBe(before);
    });

    it('a list of a department administrator has the accounts of its part, page by page, and follows a move at once', async () => {
      const own: number[] = [];
      for (let n = 0; n < 6; n += 1) {
        own.push(
          await aUser(all, { deptId: n % 2 ? ids.north : ids.n1, username: `own ${n} ${Math.random()}` }),
        );
        await aUser(all, { deptId: n % 2 ? ids.south : ids.company });
        await aUser(all);
      }
      const listed = async (api: ApiClient, query = ''): Promise<number[]> => {
        const found: number[] = [];
        for (let cursor: string | null = ''; cursor !== null;) {
          const { body } = await api.get(`${PATH}?limit=2${query}${cursor && `&cursor=${cursor}`}`);
          const page = body.data as { rows: { userId: number }[]; nextCursor: string | null };
          found.push(...page.rows.map(({ userId }) => userId));
          cursor = page.nextCursor;
        }
        return found;
      };
      expect(await listed(part)).toEqual(own);
      expect(await listed(part, '&username=own&status=0')).toEqual(own);
      expect(await listed(part, `&deptId=${ids.n1}`)).toEqual(own.filter((_, n) => n % 2 === 0));
      expect(await listed(part, `&deptId=${ids.south}`)).toEqual([]);
      expect(await listed(as({ managedDeptIds: [] }))).toEqual([]);
      expect(await listed(as({ managedDeptIds: [ids.n1, ids.north, NEVER] }))).toEqual(own);
      await all.patch(`${DEPTS}/${ids.n1}`, { parentId: ids.south });
      expect(await listed(part)).toEqual(own.filter((_, n) => n % 2 === 1));
      await all.patch(`${DEPTS}/${ids.n1}`, { parentId: ids.north });
    });

    it('a department administrator puts no account outside its part, or into no department', async () => {
      const userId = await aUser(all, { deptId: ids.n1 });
      const before = await everything();
      outside(await create(part, { deptId: ids.south }), ids.south);
      outside(await create(part, { deptId: ids.company }), ids.company);
      outside(await create(part, {}));
      outside(await part.patch(`${PATH}/${userId}`, { deptId: ids.south }), ids.south);
      outside(await part.patch(`${PATH}/${userId}`, { deptId: null }));
      outside(await part.put(PATH, { userId, username: 'x' }));
      expectRefused(await create(part, { deptId: NEVER }), 404, 'DEPT_NOT_FOUND', { ids: [NEVER] });
      // What is outside is told before what is taken, or disabled.
      const { username } = await row(userId);
      outside(await create(part, { deptId: ids.south, username }), ids.south);
      expectRefused(await create(part, { deptId: ids.n1, username }), 409, 'USERNAME_TAKEN');
      expect(await everything()).toBe(before);
    });

    it('a department administrator makes no other administrators, and handles none, not even itself', async () => {
      const username = `n${Math.random()}`;
      const own = await aUser(all, {
        username,
        deptId: ids.n1,
        roles: ['dept_admin'],
        managedDeptIds: [ids.north],
      });
      const manager = await aUser(all, { deptId: ids.n1, roles: ['tenant_admin'] });
      const member = await aUser(all, { deptId: ids.n1 });
      const api = await signedIn(username);
      const before = await everything();
      const tooHigh = (answer: Answer): void => {
        expectRefused(answer, 403, 'ROLE_TOO_HIGH');
      };
      for (const roles of [['tenant_admin'], ['superadmin'], ['dept_admin']]) {
        const managedDeptIds = roles[0] === 'dept_admin' ? [ids.n1] : [];
        tooHigh(await create(api, { deptId: ids.n1, roles, managedDeptIds }));
        tooHigh(await api.patch(`${PATH}/${member}`, { roles, managedDeptIds }));
      }
      expectInvalid(await api.patch(`${PATH}/${member}`, { managedDeptIds: [ids.n1] }), 'managedDeptIds');
      for (const userId of [own, manager]) {
        tooHigh(await api.patch(`${PATH}/${userId}`, { nickname: 'x' }));
        tooHigh(await api.patch(`${PATH}/${userId}`, { managedDeptIds: [ids.company] }));
        tooHigh(await api.delete(`${PATH}/${userId}`));
      }
      tooHigh(await api.put(`${PATH}/password`, { userId: manager, newPassword: PASSWORD }));
      expectRefused(
        await create(api, { tenantId: '000000', roles: ['tenant_admin'] }),
        403,
        'TENANT_MISMATCH',
      );
      expect(await everything()).toBe(before);
      const passwords = { oldPassword: PASSWORD, newPassword: `${PASSWORD} 2` };
      done(await api.put(`${PATH}/password`, passwords));
    });

    it('a department administrator who stands outside its part changes its own password', async () => {
      const username = `n${Math.random()}`;
      await aUser(all, { username, roles: ['dept_admin'], managedDeptIds: [ids.north] });
      const passwords = { oldPassword: PASSWORD, newPassword: `${PASSWORD} 2` };
      done(await (await signedIn(username)).put(`${PATH}/password`, passwords));
    });

    it('one who also manages the tenant is not limited to the accounts of a part', async () => {
      const userId = await aUser(all);
      const api = as({ roles: ['tenant_admin', 'dept_admin'] });
      done(await api.patch(`${PATH}/${userId}`, { deptId: ids.south }));
      done(await create(api, { roles: ['dept_admin'], managedDeptIds: [ids.south] }));
    });
  });

  describe('handled by one with a data scope', () => {
    const within = (dataScope: DataScope, more: Partial<Caller> = {}) => as({ dataScope, ...more });
    const depts = (below: boolean, ...deptIds: number[]): DataScope => [{ kind: 'depts', deptIds, below }];

    it.each([['dept_admin'], ['tenant_admin']] as const)(
      'a %s grants no data scope beyond its own',
      async (role) => {
        const inside = { deptId: ids.n1 };
        const api = within(depts(true, ids.north), { roles: [role] });
        for (const granted of [
          { dataScope: 'deptAndBelow' },
          { dataScope: 'dept' },
          { dataScope: 'own' },
          { dataScope: 'custom', scopeDeptIds: [ids.north, ids.n1] },
        ])
          done(await create(api, { ...inside, ...granted }));
        const userId = await aUser(all, { ...inside, dataScope: 'own' });
        const before = await everything();
        beyond(await create(api, inside));
        beyond(await create(api, { ...inside, dataScope: 'all' }));
        const tooMuch = { dataScope: 'custom', scopeDeptIds: [ids.n1, ids.south, ids.company] };
        beyond(await create(api, { ...inside, ...tooMuch }), ids.company, ids.south);
        beyond(await api.patch(`${PATH}/${userId}`, tooMuch), ids.company, ids.south);
        beyond(await api.patch(`${PATH}/${userId}`, { dataScope: null }));
        // One department alone does not hold those below it.
        const exact = within(depts(false, ids.n1), { roles: [role] });
        beyond(await create(exact, { ...inside, dataScope: 'deptAndBelow' }), ids.n1);
        beyond(
          await create(within([{ kind: 'own' }], { roles: [role] }), { ...inside, dataScope: 'dept' }),
          ids.n1,
        );
        beyond(await create(within([], { roles: [role] }), { ...inside, dataScope: 'dept' }), ids.n1);
        expect(await everything()).toBe(before);
        done(await create(exact, { ...inside, dataScope: 'dept' }));
        done(await create(within([{ kind: 'own' }], { roles: [role] }), { ...inside, dataScope: 'own' }));
      },
    );

    it('nobody handles an account with a data scope beyond their own: who sets its password could sign in as it', async () => {
      const userId = await aUser(all, { deptId: ids.n1 });
      const before = await everything();
      for (const roles of [['dept_admin'], ['tenant_admin']] as const) {
        const api = within(depts(true, ids.north), { roles });
        beyond(await api.put(`${PATH}/password`, { userId, newPassword: PASSWORD }));
        beyond(await api.patch(`${PATH}/${userId}`, { dataScope: 'own' }));
        beyond(await api.delete(`${PATH}/${userId}`));
      }
      expect(await everything()).toBe(before);
    });

    it('a deleted department in the data scope of an account is beyond that of others: it may be restored', async () => {
      const gone = await aDept(all, { parentId: ids.north });
      const userId = await aUser(all, { deptId: ids.n1, dataScope: 'custom', scopeDeptIds: [ids.n1, gone] });
      await all.delete(`${DEPTS}/${gone}`);
      grantsMayDangle(service.database);
      for (const roles of [['dept_admin'], ['tenant_admin']] as const) {
        const api = within(depts(false, ids.n1), { roles });
        beyond(await api.put(`${PATH}/password`, { userId, newPassword: PASSWORD }), gone);
        beyond(await api.delete(`${PATH}/${userId}`), gone);
      }
    });

    it('an administrator of a tenant does not widen its own data scope', async () => {
      const username = `n${Math.random()}`;
      const fields = { username, roles: ['tenant_admin'], deptId: ids.n1, dataScope: 'dept' };
      const userId = await aUser(all, fields);
      const api = await signedIn(username);
      const before = await everything();
      beyond(await api.patch(`${PATH}/${userId}`, { dataScope: 'all' }));
      beyond(await api.patch(`${PATH}/${userId}`, { dataScope: 'deptAndBelow' }), ids.n1);
      beyond(await api.patch(`${PATH}/${userId}`, { deptId: ids.north }), ids.north);
      expect(await everything()).toBe(before);
      done(await api.patch(`${PATH}/${userId}`, { nickname: 'x' }));
    });
  });
});
