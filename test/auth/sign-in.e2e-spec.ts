import { decode } from 'jsonwebtoken';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { version } from '../../src/server/config/version';
import { signToken } from '../../src/server/auth/token-issuer';
import { FailedSignInEntity, SessionEntity } from '../../src/server/auth/account.entity';
import type { TenantDto } from '../../src/tenant/tenant-view.dto';
import { type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { HandClock } from '../support/hand-clock';
import { expectRefused } from '../support/refusals';
import { JWT, ServiceUnderTest } from '../support/service-under-test';

const PASSWORD = 'a-long-password';

interface Tokens {
  accessToken: string;
  tokenType: string;
  expiresIn: number;
  refreshToken: string;
  scope: string;
}

describe('signing in', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ MAX_WAIT_MS: '60000' }, clock);
  let root: ApiClient;
  let tenant: Readonly<TenantDto>;
  let username: string;
  let userId: number;

  beforeAll(async () => {
    root = service.as({ roles: ['superadmin'] });
    tenant = await aTenant(root, { packageBo: { menuIds: '1, 20,300' } });
  });
  beforeEach(async () => {
    username = `u${Math.random()}`;
    userId = await aUser(admin(), { username, nickname: '小', roles: ['tenant_admin'] });
  });

  const login = (body: object = {}, headers: Record<string, string> = {}) => {
    const right = { tenantId: tenant.tenantId, username, password: PASSWORD };
    return service.anonymous.post('/auth/login', { ...right, ...body }, headers);
  };
  const signIn = async () => (await login()).body.data as Tokens;
  const refresh = (refreshToken: string) => service.anonymous.post('/auth/refresh', { refreshToken });
  const whoAmI = (token: string) => service.anonymous.as(token).get('/auth/me');
  const admin = () => service.as({ tenantId: tenant.tenantId });

  it('a sign-in gives tokens that open the API, in the claims that were promised', async () => {
    const tokens = await signIn();
    expect(tokens).toMatchObject({ tokenType: 'Bearer', expiresIn: 1800 });
    const claims = decode(tokens.accessToken) as Record<string, unknown>;
    expect(Object.keys(claims).sort().join(' ')).toBe('aud exp iat iss jti roles sub tenantId username');
    const { tenantId, tenantName } = tenant;
    const known = { tenantId, username, roles: ['tenant_admin'] };
    expect(claims).toMatchObject({ sub: `account:${userId}`, ...known });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(1800);
    expect((await whoAmI(tokens.accessToken)).body.data).toEqual({
      ...{ ...known, userId, nickname: '小', tenantName, tenantState: 'ACTIVE', menuIds: [1, 20, 300] },
      ...{ permissions: tokens.scope.split(' '), managedDeptIds: [], dataScope: [{ kind: 'all' }] },
      ...{ timeZone: 'Asia/Shanghai', version },
    });
    expect((await service.anonymous.as(tokens.accessToken).post('/system/dept-api', {})).status).toBe(200);
  });

  it('a sign-in uses the platform tenant when none is named, and the first admin is there', async () => {
    const first = { username: 'admin', password: 'admin-password' };
    const answer = await service.anonymous.post('/auth/login', first);
    expect(answer.status).toBe(200);
    const me = await whoAmI((answer.body.data as Tokens).accessToken);
    expect(me.body.data).toMatchObject({ tenantId: '000000', username: 'admin', roles: ['superadmin'] });
  });

  it('a sign-in refuses whatever is wrong with the same answer', async () => {
    const disabled = `d${Math.random()}`;
    await aUser(admin(), { username: disabled, status: '1' });
    const same = { 'x-request-id': 'same' };
    const bodies = [
      { password: 'wrong-password' },
      { username: 'nobody' },
      { tenantId: '999999' },
      { tenantId: '租户' },
      { tenantId: '000000' },
      { username: disabled },
    ];
    const texts = [];
    for (const body of bodies) {
      const answer = await login(body, same);
      expectRefused(answer, 401, 'BAD_CREDENTIALS', { told: body });
      texts.push(answer.text);
    }
    expect(new Set(texts).size).toBe(1);
    expect((await login({ password: 5 })).status).toBe(400);
    expect((await login({ username: '' })).status).toBe(400);
  });

  it('a sign-in lets no more than five guesses through, however many come at once', async () => {
    await service.dataSource.manager.clear(FailedSignInEntity);
    const guesses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => login({ password: `guess-${n}-xx` })),
    );
    expect(new Set(guesses.map(({ refusal }) => refusal.reason))).toEqual(new Set(['BAD_CREDENTIALS']));
    expect((await login()).status).toBe(401);
    expect(await service.dataSource.manager.count(FailedSignInEntity)).toBe(5);
    await service.dataSource.manager.clear(FailedSignInEntity);
    expect((await login()).status).toBe(200);
  });

  it('a sign-in lets right passwords in, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => login()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('a sign-in forgives wrong passwords after a right one', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 4; n += 1) await login({ password: 'wrong-password' });
      expect((await login()).status).toBe(200);
    }
  });

  it('a sign-in is closed to users of a tenant that is not active, with its reason', async () => {
    const { id, ...closed } = await aTenant(root);
    const boss = { username: 'boss', password: PASSWORD, roles: ['tenant_admin'] };
    await root.post('/system/user-api', { ...boss, tenantId: closed.tenantId });
    await root.put('/system/tenant-api', { id, ...closed, status: '1' });
    const body = { tenantId: closed.tenantId, username: 'boss' };
    expect((await login(body)).refusal.reason).toBe('TENANT_DISABLED');
    expect((await login({ ...body, password: 'wrong-password' })).refusal.reason).toBe('BAD_CREDENTIALS');
  });

  describe('sessions', () => {
    it('refresh tokens are rotated, and stored only as hashes', async () => {
      const first = await signIn();
      const second = (await refresh(first.refreshToken)).body.data as Tokens;
      expect(second.refreshToken).not.toBe(first.refreshToken);
      const third = (await refresh(second.refreshToken)).body.data as Tokens;
      expect((await whoAmI(third.accessToken)).status).toBe(200);
      const stored = JSON.stringify(await service.dataSource.manager.find(SessionEntity));
      for (const { refreshToken } of [first, second, third])
        expect(stored).not.toContain(refreshToken.split('.')[1]);
    });

    it('a session ends as a whole when an old refresh token is used again', async () => {
      const first = await signIn();
      const second = (await refresh(first.refreshToken)).body.data as Tokens;
      expect((await whoAmI(second.accessToken)).status).toBe(200);
      expect((await refresh(first.refreshToken)).refusal.reason).toBe('REFRESH_INVALID');
      expect((await refresh(second.refreshToken)).refusal.reason).toBe('REFRESH_INVALID');
      for (const { accessToken } of [first, second]) expect((await whoAmI(accessToken)).status).toBe(401);
    });

    it('refreshes that race have one winner', async () => {
      const { refreshToken } = await signIn();
      const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(refreshToken)));
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    });

    it('refresh tokens that are old, made up, or of an account that is gone are refused', async () => {
      for (const token of ['x', 'x.y', '租户.x', `${'0'.repeat(36)}.x`, '.']) {
        expect([token, (await refresh(token)).refusal.reason]).toEqual([token, 'REFRESH_INVALID']);
      }
      const old = await signIn();
      clock.pass(7 * 24 * 3_600_000 + 1000);
      expect((await refresh(old.refreshToken)).refusal.reason).toBe('REFRESH_INVALID');
      const fresh = await signIn();
      await admin().delete(`/system/user-api/${userId}`);
      expect((await refresh(fresh.refreshToken)).refusal.reason).toBe('REFRESH_INVALID');
    });

    it('a logout ends this session at once, and no other', async () => {
      const [here, there] = [await signIn(), await signIn()];
      expect((await whoAmI(here.accessToken)).status).toBe(200);
      expect((await service.anonymous.as(here.accessToken).post('/auth/logout', {})).body.data).toBeNull();
      expect((await whoAmI(here.accessToken)).refusal.reason).toBe('TOKEN_INVALID');
      expect((await refresh(here.refreshToken)).refusal.reason).toBe('REFRESH_INVALID');
      expect((await whoAmI(there.accessToken)).status).toBe(200);
    });

    it('a session ends at once when the account is disabled or deleted, and roles change at once', async () => {
      const { accessToken } = await signIn();
      expect((await service.anonymous.as(accessToken).get('/system/user-api')).status).toBe(200);
      await admin().put('/system/user-api', { userId, username, roles: ['member'] });
      const later = await service.anonymous.as(accessToken).get('/system/user-api');
      expect(later.refusal.reason).toBe('ROLE_REQUIRED');
      await admin().put('/system/user-api', { userId, username, status: '1' });
      expect((await whoAmI(accessToken)).refusal.reason).toBe('TOKEN_INVALID');
      await admin().put('/system/user-api', { userId, username });
      expect((await whoAmI(accessToken)).status).toBe(200);
      await admin().delete(`/system/user-api/${userId}`);
      expect((await whoAmI(accessToken)).refusal.reason).toBe('TOKEN_INVALID');
    });

    it('all sessions end when the password is changed: by oneself with the old one, or by an administrator', async () => {
      const path = '/system/user-api/password';
      const { accessToken } = await signIn();
      const self = service.anonymous.as(accessToken);
      const change = (oldPassword?: string) =>
        self.put(path, { oldPassword, newPassword: 'the-next-password' });
      expect((await change('wrong')).refusal.reason).toBe('WRONG_PASSWORD');
      expect((await change()).refusal.reason).toBe('WRONG_PASSWORD');
      expect((await change(PASSWORD)).status).toBe(200);
      expect((await whoAmI(accessToken)).refusal.reason).toBe('TOKEN_INVALID');
      expect((await login()).status).toBe(401);
      const next = (await login({ password: 'the-next-password' })).body.data as Tokens;
      expect((await admin().put(path, { userId, newPassword: 'reset-by-an-admin' })).status).toBe(200);
      expect((await whoAmI(next.accessToken)).refusal.reason).toBe('TOKEN_INVALID');
      expect((await login({ password: 'reset-by-an-admin' })).status).toBe(200);
      expect(service.log.join('')).not.toMatch(/the-next-password|reset-by-an-admin/);
    });

    it('an own change of a password loses against a reset that came between', async () => {
      const path = '/system/user-api/password';
      const { accessToken } = await signIn();
      const self = service.anonymous.as(accessToken);
      const [, own] = await Promise.all([
        admin().put(path, { userId, newPassword: 'by-the-administrator' }),
        self.put(path, { oldPassword: PASSWORD, newPassword: 'by-the-thief-himself' }),
      ]);
      const works = async (password: string) => (await login({ password })).status === 200;
      if (own.status !== 200) expect(await works('by-the-administrator')).toBe(true);
      expect((await works('by-the-administrator')) !== (await works('by-the-thief-himself'))).toBe(true);
    });

    it('an old password is taken as it was set, blanks and all', async () => {
      const password = '  spaced out  ';
      await admin().put('/system/user-api/password', { userId, newPassword: password });
      const { accessToken } = (await login({ password })).body.data as Tokens;
      const change = { oldPassword: password, newPassword: 'without-any-blank' };
      const self = service.anonymous.as(accessToken);
      expect((await self.put('/system/user-api/password', change)).status).toBe(200);
    });

    it('a token of an account is held to its tenant, also when the account was just asked for', async () => {
      const tokenIn = (tenantId: string) =>
        signToken({ subject: `account:${userId}`, tenantId, username, roles: ['tenant_admin'] }, JWT, 600);
      expect((await whoAmI(tokenIn(tenant.tenantId))).status).toBe(200);
      expect((await whoAmI(tokenIn('000000'))).refusal.reason).toBe('TOKEN_INVALID');
    });
  });

  describe('OAuth2', () => {
    const token = (form: Record<string, string>, type = 'application/x-www-form-urlencoded') =>
      service.anonymous.post('/auth/token', new URLSearchParams(form).toString(), { 'content-type': type });
    const parsed = (text: string) => JSON.parse(text) as Record<string, string>;

    it('the token endpoint takes the password grant, with the tenant in front of the user name', async () => {
      const grant = {
        grant_type: 'password',
        username: `${tenant.tenantId}/${username}`,
        password: PASSWORD,
      };
      const answer = await token(grant);
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
      const body = parsed(answer.text);
      const names = ['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'];
      expect(Object.keys(body).sort()).toEqual(names);
      expect((await whoAmI(body.access_token!)).status).toBe(200);
      const again = await token({ grant_type: 'refresh_token', refresh_token: body.refresh_token! });
      expect(again.status).toBe(200);
      const admin = { grant_type: 'password', username: 'admin', password: 'admin-password' };
      expect((await token(admin)).status).toBe(200);
    });

    it('the token endpoint answers errors in the words of the RFC', async () => {
      for (const [form, error] of [
        [{}, 'invalid_request'],
        [{ grant_type: 'password' }, 'invalid_request'],
        [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
        [{ grant_type: 'password', username, password: 'wrong-password' }, 'invalid_grant'],
        [{ grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_grant'],
      ] as const) {
        const answer = await token(form);
        expect([form, answer.status, parsed(answer.text).error]).toEqual([form, 400, error]);
      }
      expect((await token({ grant_type: 'password' }, 'text/plain')).status).toBe(415);
    });
  });

  it('a sign-in checks one password for everything that is wrong, also where there is none', async () => {
    const disabled = `d${Math.random()}`;
    await aUser(admin(), { username: disabled, status: '1' });
    const checked = jest.spyOn(service.app.get(PasswordHasher), 'verify');
    for (const body of [
      { username: 'nobody' },
      { tenantId: '999999' },
      { password: 'wrong-password' },
      { username: disabled },
    ]) {
      checked.mockClear();
      expect((await login(body)).status).toBe(401);
      expect([body, checked.mock.calls.length]).toEqual([body, 1]);
    }
    checked.mockRestore();
  });
});
