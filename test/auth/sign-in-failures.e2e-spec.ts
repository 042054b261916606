import { IsNull } from 'typeorm';
import { Cleanup } from '../../src/database/cleanup';
import { FailedSignInEntity } from '../../src/server/auth/account.entity';
import { type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { loseNextAnswer } from '../support/commit-faults';
import { HandClock } from '../support/hand-clock';
import { recordQueries } from '../support/query-recorder';
import { ServiceUnderTest } from '../support/service-under-test';

const PASSWORD = 'a-long-password';
const WRONG = 'wrong-password';
const HERE = '203.0.113.1';
const THERE = '203.0.113.2';
const MINUTE = 60_000;

describe('the lock-out after wrong passwords', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ TRUST_PROXY: '1' }, clock);
  let tenantId: string;
  let admin: ApiClient;
  let username: string;
  let userId: number;

  beforeAll(async () => {
    tenantId = (await aTenant(service.as({ roles: ['superadmin'] }))).tenantId;
    admin = service.as({ tenantId });
  });
  beforeEach(async () => {
    username = `u${Math.random()}`;
    userId = await aUser(admin, { username });
  });

  const at = (address: string) => service.anonymous.with({ 'x-forwarded-for': address });
  const login = (password: string, address = HERE, name = username) =>
    at(address).post('/auth/login', { tenantId, username: name, password });
  const statusOf = async (...args: Parameters<typeof login>) => (await login(...args)).status;
  const failures = async (count: number, address = HERE) => {
    for (let n = 0; n < count; n += 1) expect(await statusOf(WRONG, address)).toBe(401);
  };
  const statements = async (work: () => Promise<unknown>) =>
    (await recordQueries(service.dataSource, work)).map(({ sql }) => sql);

  it('wrong passwords lock an account only for the address that they came from', async () => {
    await failures(5);
    expect(await statusOf(PASSWORD)).toBe(401);
    expect(await statusOf(PASSWORD, THERE)).toBe(200);
    expect(await statusOf(PASSWORD)).toBe(401);
  });

  it('wrong passwords lock for ten minutes from the fifth, and are forgotten ten minutes later', async () => {
    await failures(4);
    clock.pass(5 * MINUTE);
    await failures(1);
    clock.pass(9 * MINUTE);
    expect(await statusOf(PASSWORD)).toBe(401);
    clock.pass(MINUTE + 1000);
    await failures(4);
    clock.pass(10 * MINUTE + 1000);
    await failures(4);
    expect(await statusOf(PASSWORD)).toBe(200);
  });

  it('wrong passwords are not forgiven by a sign-in from another address', async () => {
    await failures(4);
    expect(await statusOf(PASSWORD, THERE)).toBe(200);
    await failures(1);
    expect(await statusOf(PASSWORD)).toBe(401);
  });

  it('wrong passwords are forgiven, from wherever they came, when an administrator resets the password', async () => {
    await failures(5);
    await failures(5, THERE);
    const newPassword = 'reset-by-an-admin';
    expect((await admin.put('/system/user-api/password', { userId, newPassword })).status).toBe(200);
    expect(await statusOf(newPassword)).toBe(200);
    expect(await statusOf(newPassword, THERE)).toBe(200);
  });

  it('wrong passwords count for one account, however its name is written', async () => {
    for (const name of [
      username,
      ` ${username} `,
      username.replace('u', 'ｕ'),
      `${username}\u200b`,
      username,
    ])
      expect(await statusOf(WRONG, HERE, name)).toBe(401);
    expect(await statusOf(PASSWORD)).toBe(401);
  });

  it('wrong old passwords count too, at the address of who sends them', async () => {
    const { accessToken } = (await login(PASSWORD)).body.data as { accessToken: string };
    const change = (oldPassword: string, address: string) =>
      at(address).as(accessToken).put('/system/user-api/password', { oldPassword, newPassword: PASSWORD });
    for (let n = 0; n < 5; n += 1) expect((await change(WRONG, HERE)).status).toBe(403);
    expect((await change(PASSWORD, HERE)).refusal.reason).toBe('WRONG_PASSWORD');
    expect((await change(PASSWORD, THERE)).status).toBe(200);
  });

  it('a wrong password counts once when the database does not answer', async () => {
    const isLost = loseNextAnswer(service.dataSource, /^(INSERT|UPDATE).*failed/i);
    await failures(4);
    expect(isLost()).toBe(true);
    expect(await statusOf(PASSWORD)).toBe(200);
  });

  it('a wrong password costs the same statements, whether the account is there, disabled, locked for others, or not', async () => {
    const disabled = `d${Math.random()}`;
    await aUser(admin, { username: disabled, status: '1' });
    await failures(5, THERE);
    const real = await statements(() => login(WRONG));
    expect(await statements(() => login(WRONG, HERE, 'nobody'))).toEqual(real);
    expect(await statements(() => login(WRONG, HERE, disabled))).toEqual(real);
    expect(await statements(() => login(PASSWORD, HERE, disabled))).toEqual(real);
    const elsewhere = { tenantId: '999999', username, password: WRONG };
    expect(await statements(() => at(HERE).post('/auth/login', elsewhere))).toEqual(real);
    for (let n = 0; n < 5; n += 1) await login(WRONG, HERE, 'nobody');
    await failures(5);
    const locked = await statements(() => login(PASSWORD));
    expect(await statements(() => login(PASSWORD, HERE, 'nobody'))).toEqual(locked);
  });

  it('wrong passwords are removed when they can lock nobody any more', async () => {
    const { manager } = service.dataSource;
    const forNobody = { tenantId: IsNull() };
    for (let n = 0; n < 2; n += 1) await login(WRONG, HERE, 'typed-by-mistake');
    clock.pass(20 * MINUTE + 1000);
    await login(WRONG, HERE, 'typed-by-mistake');
    await failures(1);
    await service.app.get(Cleanup).run();
    expect(await manager.countBy(FailedSignInEntity, forNobody)).toBe(1);
    // Neither names nor passwords that somebody typed are stored. What was tried for an account is kept as its record.
    const stored = JSON.stringify(await manager.find(FailedSignInEntity));
    for (const typed of ['typed-by-mistake', username, WRONG]) expect(stored).not.toContain(typed);
    expect(await manager.countBy(FailedSignInEntity, { userId })).toBe(1);
  });
});
