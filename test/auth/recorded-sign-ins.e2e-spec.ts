import { Cleanup } from '../../src/database/cleanup';
import { PagedList } from '../../src/database/page';
import { FailedSignInEntity, SessionEntity } from '../../src/server/auth/account.entity';
import { type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { loseNextAnswer } from '../support/commit-faults';
import { HandClock } from '../support/hand-clock';
import { isLong } from '../support/long-run';
import { ServiceUnderTest } from '../support/service-under-test';

const PASSWORD = 'a-long-password';
const WRONG = 'wrong-password';
const HERE = '203.0.113.1';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const SIGN_INS = '/system/sign-in-api';
const USERS = '/system/user-api';
const FLOOD = isLong ? 2000 : 200;

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}
type Row = Readonly<Record<string, unknown>>;
interface Page {
  readonly rows: Row[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

describe('what is kept of sign-ins', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ TRUST_PROXY: '1' }, clock);
  let tenantId: string;
  let admin: ApiClient;
  let username: string;
  let userId: number;

  beforeEach(async () => {
    tenantId = (await aTenant(service.as({ roles: ['superadmin'] }))).tenantId;
    admin = service.as({ tenantId });
    username = `u${Math.random()}`;
    userId = await aUser(admin, { username });
  });

  const at = (address: string) => service.anonymous.with({ 'x-forwarded-for': address });
  const login = (password = PASSWORD, address = HERE, name = username) =>
    at(address).post('/auth/login', { tenantId, username: name, password });
  const signIn = async (address = HERE) => (await login(PASSWORD, address)).body.data as Tokens;
  const pageOf = async (path: string, api = admin) => (await api.get(path)).body.data as Page;
  const list = async (query = '') => (await pageOf(`${SIGN_INS}${query}`)).rows;
  const sessions = async () => (await pageOf(`${USERS}/${userId}/sessions`)).rows;
  const whoAmI = async (token: string) => (await service.anonymous.as(token).get('/auth/me')).status;
  const outcomes = (rows: Row[]) => rows.map(({ outcome, reason }) => reason ?? outcome);

  it('sign-ins are listed with who, when, from where, what became of them and their session, the newest first', async () => {
    const disabled = await aUser(admin, { username: 'disabled', status: '1' });
    await login(WRONG);
    clock.pass(1000);
    const { accessToken } = await signIn('2001:db8:1:2:3::4');
    await service.anonymous.as(accessToken).post('/auth/logout', {});
    clock.pass(1000);
    await login(PASSWORD, HERE, 'disabled');
    await login(WRONG, HERE, 'nobody');
    const [third, second, first, ...more] = await list();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string;
    const refused = { time, outcome: 'refused', address: HERE, sessionId: null, endTime: null };
    expect(first).toEqual({ ...refused, userId, username, reason: 'wrong_password' });
    expect(second).toEqual({
      ...{ time, userId, username, outcome: 'signed_in', reason: null, endTime: time },
      ...{ address: '2001:db8:1:2::/64', sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string },
    });
    expect(third).toEqual({ ...refused, userId: disabled, username: 'disabled', reason: 'disabled' });
    // A name that belongs to no account may be a password.
    expect(more).toEqual([]);
  });

  it('sign-ins are filtered by account, outcome and time, and listed page by page', async () => {
    await aUser(admin, { username: 'another' });
    for (const name of [username, 'another', username]) {
      await login(WRONG, HERE, name);
      clock.pass(1000);
      await login(PASSWORD, HERE, name);
      clock.pass(1000);
    }
    expect(outcomes(await list(`?userId=${userId}`))).toEqual([
      ...['signed_in', 'wrong_password'],
      ...['signed_in', 'wrong_password'],
    ]);
    expect(outcomes(await list('?outcome=refused'))).toEqual(Array(3).fill('wrong_password'));
    expect(outcomes(await list('?outcome=signed_in'))).toEqual(Array(3).fill('signed_in'));
    const all = await list();
    const paged: Row[] = [];
    for (let cursor = ''; ;) {
      const page = await pageOf(`${SIGN_INS}?limit=1${cursor}`);
      paged.push(...page.rows);
      if (!page.hasMore) break;
      cursor = `&cursor=${page.nextCursor!}`;
    }
    expect(paged).toEqual(all);
    expect(all).toHaveLength(6);
    const time = encodeURIComponent(String(all[2]!.time));
    expect(await list(`?from=${time}`)).toEqual(all.slice(0, 3));
    expect(await list(`?until=${time}`)).toEqual(all.slice(2));
    expect(await list(`?from=${time}&until=${time}`)).toEqual([all[2]]);
    const day = String(all[0]!.time).slice(0, 10);
    expect((await list(`?until=${day}`))[0]).toEqual(all[0]);
  });

  it.each([
    ['?outcome=maybe', 'outcome'],
    ['?userId=x', 'userId'],
    ['?from=2026-02-30', 'from'],
    ['?until=yesterday', 'until'],
    ['?cursor=x', 'cursor'],
  ])('a list of sign-ins is refused that is asked for with %s', async (query, field) => {
    const { refusal } = await admin.get(SIGN_INS + query);
    expect([refusal.reason, refusal.fields?.[0]?.field]).toEqual(['INVALID_INPUT', field]);
  });

  it('a list of sign-ins is refused that is to begin where no time can be', async () => {
    const forged = (key: (string | number)[]) =>
      new PagedList('sign-in', ['time', 'uuid']).seal([tenantId, []], key);
    for (const ms of [-1, 2 ** 52, 0.5]) {
      const cursor = forged([ms, '0b9f6c1e-8d3a-4a53-9d0e-2f1f5f1c7a10']);
      expect((await admin.get(`${SIGN_INS}?cursor=${cursor}`)).refusal.reason).toBe('INVALID_INPUT');
    }
  });

  it('a list of sign-ins is for administrators: a department administrator does not see those of others', async () => {
    for (const roles of [['dept_admin'], ['member']] as const) {
      const caller = service.as({ tenantId, roles: [...roles], managedDeptIds: [1] });
      expect((await caller.get(SIGN_INS)).refusal.reason).toBe('ROLE_REQUIRED');
    }
    await signIn();
    const platform = service.as({ roles: ['superadmin'] });
    expect((await pageOf(`${SIGN_INS}?userId=${userId}`, platform)).rows).toEqual([]);
  });

  it('a flood of refused attempts writes no more rows than the lock-out counts', async () => {
    const rows = async () => {
      const { manager, entityMetadatas } = service.dataSource;
      const counts: Record<string, number> = {};
      for (const { target, tableName } of entityMetadatas) counts[tableName] = await manager.count(target);
      return counts;
    };
    const before = await rows();
    const names = [username, 'nobody', 'no-one', 'anybody'];
    for (let n = 0; n < FLOOD / 20; n += 1)
      await Promise.all(Array.from({ length: 20 }, (_, each) => login(WRONG, HERE, names[each % 4])));
    const counted = 5 * names.length;
    const failures = before.tenantry_failed_sign_in! + counted;
    expect(await rows()).toEqual({ ...before, tenantry_failed_sign_in: failures });
    expect(outcomes(await list())).toEqual(Array(5).fill('wrong_password'));
  });

  it('refused attempts from many addresses are kept for the lock-out alone when there are 100 of an account in a day', async () => {
    for (let n = 0; n < 110; n += 1) await login(WRONG, `198.51.100.${n}`);
    expect(await list('?limit=500')).toHaveLength(100);
    clock.pass(21 * MINUTE);
    await service.app.get(Cleanup).run();
    expect(await list('?limit=500')).toHaveLength(100);
    expect(await service.dataSource.manager.countBy(FailedSignInEntity, { tenantId })).toBe(100);
  });

  it('a sign-in forgives wrong passwords, and they stay in the list', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 4; n += 1) expect((await login(WRONG)).status).toBe(401);
      expect((await login()).status).toBe(200);
    }
    expect(await list('?outcome=refused')).toHaveLength(8);
    await admin.put('/system/user-api/password', { userId, newPassword: PASSWORD });
    expect(await list('?outcome=refused')).toHaveLength(8);
  });

  it('sign-ins are removed after 90 days, and no session before it is over', async () => {
    const { manager } = service.dataSource;
    const clean = () => service.app.get(Cleanup).run();
    await login(WRONG);
    await signIn();
    let { refreshToken } = await signIn();
    for (let day = 0; day < 84; day += 6) {
      clock.pass(6 * DAY);
      ({ refreshToken } = (await service.anonymous.post('/auth/refresh', { refreshToken })).body
        .data as Tokens);
    }
    clock.pass(5 * DAY);
    await clean();
    expect(await list()).toHaveLength(3);
    clock.pass(2 * DAY);
    await clean();
    expect(outcomes(await list())).toEqual(['signed_in']);
    expect(await manager.countBy(FailedSignInEntity, { tenantId })).toBe(0);
    clock.pass(84 * DAY);
    await clean();
    expect(await manager.countBy(SessionEntity, { tenantId })).toBe(0);
  });

  it('the sessions of an account are listed: when and where they began and were refreshed, and which is the current one', async () => {
    await signIn();
    clock.pass(1000);
    const { accessToken, refreshToken } = await signIn('203.0.113.2');
    await admin.put('/system/user-api', { userId, username, roles: ['tenant_admin'] });
    const [own] = (await pageOf(`${USERS}/${userId}/sessions`, service.anonymous.as(accessToken))).rows;
    const time = expect.stringMatching(/^\d{4}-/) as string;
    expect(own).toEqual({
      ...{ sessionId: refreshToken.split('.')[0], beginTime: time, address: '203.0.113.2', expireTime: time },
      ...{ refreshTime: null, refreshAddress: null, isCurrent: true },
    });
    clock.pass(1000);
    await at('203.0.113.3').post('/auth/refresh', { refreshToken });
    const [second, first, ...more] = await sessions();
    expect(second).toMatchObject({ refreshTime: time, refreshAddress: '203.0.113.3', isCurrent: false });
    expect(first).toMatchObject({ address: HERE, refreshTime: null });
    expect(more).toEqual([]);
    const page = await pageOf(`${USERS}/${userId}/sessions?limit=1`);
    expect((await pageOf(`${USERS}/${userId}/sessions?cursor=${page.nextCursor!}`)).rows).toEqual([first]);
  });

  it('an administrator ends one session of an account, or all of them', async () => {
    const [one, two, three] = [await signIn(), await signIn(), await signIn()];
    const idOf = ({ refreshToken }: Tokens) => refreshToken.split('.')[0]!;
    const end = (path = '') => admin.delete(`${USERS}/${userId}/sessions${path}`);
    expect(await whoAmI(one.accessToken)).toBe(200);
    expect((await end(`/${idOf(one)}`)).status).toBe(200);
    expect(await whoAmI(one.accessToken)).toBe(401);
    expect(await whoAmI(two.accessToken)).toBe(200);
    for (const gone of [idOf(one), 'x', '0b9f6c1e-8d3a-4a53-9d0e-2f1f5f1c7a10'])
      expect((await end(`/${gone}`)).refusal.reason).toBe('SESSION_NOT_FOUND');
    expect((await end()).body.data).toBeNull();
    for (const { accessToken, refreshToken } of [two, three]) {
      expect(await whoAmI(accessToken)).toBe(401);
      expect((await service.anonymous.post('/auth/refresh', { refreshToken })).status).toBe(401);
    }
    expect(await sessions()).toEqual([]);
    expect((await end()).status).toBe(200);
    expect((await list('?outcome=signed_in')).every(({ endTime }) => endTime !== null)).toBe(true);
    expect((await login()).status).toBe(200);
  });

  it('a session that is ended while the database does not answer was there', async () => {
    const [sessionId = ''] = (await signIn()).refreshToken.split('.');
    const isLost = loseNextAnswer(service.dataSource, /^UPDATE .tenantry_session/);
    const { status } = await admin.delete(`${USERS}/${userId}/sessions/${sessionId}`);
    expect([isLost(), status]).toEqual([true, 200]);
  });

  it('nobody ends the sessions of an account above their own, or outside of their part', async () => {
    await admin.put('/system/user-api', { userId, username, roles: ['tenant_admin'] });
    const part = service.as({ tenantId, roles: ['dept_admin'], managedDeptIds: [1] });
    const path = `${USERS}/${userId}/sessions`;
    for (const refused of [await part.get(path), await part.delete(path), await part.delete(`${path}/x`)])
      expect(refused.refusal.reason).toBe('OUTSIDE_MANAGED_DEPTS');
    const root = service.as({ roles: ['tenant_admin'] });
    expect((await root.delete(`${USERS}/1/sessions`)).refusal.reason).toBe('ROLE_TOO_HIGH');
  });
});

describe('what is kept of sign-ins for 0 days', () => {
  const service = ServiceUnderTest.use({ SIGN_IN_KEEP_DAYS: '0' });

  it('with SIGN_IN_KEEP_DAYS=0 no address is kept, and no refused sign-in', async () => {
    const { tenantId } = await aTenant(service.as({ roles: ['superadmin'] }));
    const admin = service.as({ tenantId });
    const username = 'somebody';
    const userId = await aUser(admin, { username });
    const post = async (path: string, body: object) =>
      (await service.anonymous.post(path, body)).body.data as Tokens;
    await post('/auth/login', { tenantId, username, password: WRONG });
    const { refreshToken } = await post('/auth/login', { tenantId, username, password: PASSWORD });
    await post('/auth/refresh', { refreshToken });
    const rowsOf = async (path: string) => ((await admin.get(path)).body.data as Page).rows;
    expect(await rowsOf(SIGN_INS)).toMatchObject([{ outcome: 'signed_in', address: null }]);
    expect(await rowsOf(`${USERS}/${userId}/sessions`)).toMatchObject([
      { address: null, refreshAddress: null },
    ]);
  });
});
