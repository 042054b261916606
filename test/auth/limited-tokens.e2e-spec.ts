import { decode } from 'jsonwebtoken';
import { SessionEntity } from '../../src/server/auth/account.entity';
import { type ApiClient, aDept, aTenant, aUser } from '../../src/server/testing';
import { holdNext, loseNextAnswer } from '../support/commit-faults';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PASSWORD = 'a-long-password';
const OF_MEMBERS = 'dept:read user:write entitlement:read quota:read';

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scope: string;
}

interface Me {
  readonly permissions: readonly string[];
}

/** What no client means, and what is refused in the same way wherever a scope is sent. */
const ODD = {
  INVALID_SCOPE: [
    ...['dept', 'dept:*', '*', 'DEPT:READ', 'dept:read,dept:write', 'dept:read\tdept:write', '"dept:read"'],
    ...[
      'dept:read nobody:write',
      '__proto__',
      'constructor',
      'openid',
      'superadmin',
      '部门:读',
      '%',
      "' OR 1",
    ],
  ],
  INVALID_INPUT: [5, true, {}, ['dept:read'], 'a\0b', '\ud800', 'dept:read '.repeat(100) + 'x'],
} as const;

describe('a token that is limited to permissions', () => {
  const service = ServiceUnderTest.use();
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
    userId = await aUser(admin, { username, roles: ['tenant_admin'] });
  });

  const login = (scope?: unknown) =>
    service.anonymous.post('/auth/login', { tenantId, username, password: PASSWORD, scope });
  const signIn = async (scope?: string) => (await login(scope)).body.data as Tokens;
  const refresh = (refreshToken: string, scope?: unknown) =>
    service.anonymous.post('/auth/refresh', { refreshToken, scope });
  const renew = async (refreshToken: string, scope?: string) =>
    (await refresh(refreshToken, scope)).body.data as Tokens;
  const token = (form: Record<string, string>) =>
    service.anonymous.post('/auth/token', new URLSearchParams(form).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    });
  const whoAmI = async (accessToken: string) =>
    (await service.anonymous.as(accessToken).get('/auth/me')).body.data as Me;
  const claimOf = ({ accessToken }: Tokens) => (decode(accessToken) as { scope?: string }).scope;
  const setRole = (role: string) =>
    admin.patch(
      `/system/user-api/${userId}`,
      { roles: [role] },
      { 'content-type': 'application/merge-patch+json' },
    );
  const sessionOf = (refreshToken: string) =>
    service.dataSource.manager.findOneByOrFail(SessionEntity, { sessionId: refreshToken.split('.')[0]! });

  it('a sign-in without a scope grants all that the roles allow, and an empty one is none', async () => {
    for (const scope of [undefined, null, '', '  ']) {
      const tokens = (await login(scope)).body.data as Tokens;
      expect(tokens.scope).toMatch(/^dept:read dept:write tenant:read .*webhook:write/);
      expect([scope, claimOf(tokens)]).toEqual([scope, undefined]);
      expect((await whoAmI(tokens.accessToken)).permissions.join(' ')).toBe(tokens.scope);
    }
    await setRole('member');
    expect((await signIn()).scope).toBe(OF_MEMBERS);
  });

  it('a sign-in with a scope opens what it names, in the order of the catalogue, and nothing else', async () => {
    const tokens = await signIn(' change:read  dept:read change:read ');
    expect([tokens.scope, claimOf(tokens)]).toEqual(['dept:read change:read', 'dept:read change:read']);
    const api = service.anonymous.as(tokens.accessToken);
    expect((await whoAmI(tokens.accessToken)).permissions).toEqual(['dept:read', 'change:read']);
    expect((await api.get('/system/dept-api')).status).toBe(200);
    const { status, refusal } = await api.post('/system/dept-api', {});
    expect([status, refusal.reason, refusal.permission]).toEqual([403, 'PERMISSION_REQUIRED', 'dept:write']);
  });

  it('a sign-in leaves out of its scope what no role of the account can use', async () => {
    await setRole('member');
    const tokens = await signIn('dept:write dept:read');
    expect([tokens.scope, claimOf(tokens)]).toEqual(['dept:read', 'dept:read']);
    expectRefused(await login('dept:write tenant:write'), 400, 'INVALID_SCOPE');
    // The roles that come later widen no token that was asked to be narrow.
    await setRole('tenant_admin');
    expect((await whoAmI(tokens.accessToken)).permissions).toEqual(['dept:read']);
  });

  it('a scope that is odd is refused wherever it is sent, and counts as no wrong password', async () => {
    const { refreshToken } = await signIn('dept:read');
    for (const [reason, scopes] of Object.entries(ODD))
      for (const scope of scopes) {
        expectRefused(await login(scope), 400, reason, { told: scope });
        expectRefused(await refresh(refreshToken, scope), 400, reason, { told: scope });
        if (typeof scope !== 'string' || !scope.isWellFormed()) continue;
        const grant = { grant_type: 'password', username: `${tenantId}/${username}`, password: PASSWORD };
        const { status, text } = await token({ ...grant, scope });
        const error = reason === 'INVALID_SCOPE' ? 'invalid_scope' : 'invalid_request';
        expect([scope, status, (JSON.parse(text) as { error: string }).error]).toEqual([scope, 400, error]);
      }
    expectInvalid(await login('nothing'), 'scope');
    const wrong = { tenantId, username, password: 'wrong-password', scope: 'nothing' };
    expectRefused(await service.anonymous.post('/auth/login', wrong), 400, 'INVALID_SCOPE');
    expect((await login()).status).toBe(200);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('a refresh keeps the scope of its session, or narrows it for good', async () => {
    const first = await signIn('dept:read dept:write change:read');
    const kept = await renew(first.refreshToken);
    expect([kept.scope, claimOf(kept)]).toEqual([first.scope, first.scope]);
    const same = await renew(kept.refreshToken, 'change:read dept:write dept:read');
    expect(same.scope).toBe(first.scope);
    const narrow = await renew(same.refreshToken, 'dept:read');
    expect([narrow.scope, claimOf(narrow)]).toEqual(['dept:read', 'dept:read']);
    const later = await renew(narrow.refreshToken);
    expect([later.scope, claimOf(later)]).toEqual(['dept:read', 'dept:read']);
    expectRefused(await refresh(later.refreshToken, 'dept:read dept:write'), 400, 'INVALID_SCOPE');
  });

  it('a refresh of a session without a limit may narrow it, too', async () => {
    const { refreshToken } = await signIn();
    const narrow = await renew(refreshToken, 'user:read');
    expect([narrow.scope, claimOf(narrow)]).toEqual(['user:read', 'user:read']);
    expect((await sessionOf(refreshToken)).scope).toBe('user:read');
    expectRefused(await refresh(narrow.refreshToken, 'dept:read'), 400, 'INVALID_SCOPE');
  });

  it('a refresh that asks for more is refused, and uses nothing up', async () => {
    const { accessToken, refreshToken } = await signIn('dept:read');
    const before = await sessionOf(refreshToken);
    for (const scope of ['dept:read dept:write', 'tenant:read', 'nothing'])
      expectRefused(await refresh(refreshToken, scope), 400, 'INVALID_SCOPE', { told: scope });
    expect(await sessionOf(refreshToken)).toEqual(before);
    expect((await whoAmI(accessToken)).permissions).toEqual(['dept:read']);
    expect((await renew(refreshToken)).scope).toBe('dept:read');
  });

  it('a refresh token that was used before ends its session, also with a scope that would be refused', async () => {
    const first = await signIn('dept:read');
    const second = await renew(first.refreshToken);
    expectRefused(await refresh(first.refreshToken, 'dept:write'), 401, 'REFRESH_INVALID');
    expectRefused(await refresh(second.refreshToken), 401, 'REFRESH_INVALID');
    const third = await signIn();
    const fourth = await renew(third.refreshToken);
    expectRefused(await refresh(third.refreshToken, 'nobody:knows'), 401, 'REFRESH_INVALID');
    expectRefused(await refresh(fourth.refreshToken), 401, 'REFRESH_INVALID');
  });

  it('a refresh that narrows wins or loses as a whole against one at the same time', async () => {
    const { refreshToken } = await signIn('dept:read dept:write');
    const { reached, letGo } = holdNext(service.dataSource, /^UPDATE .tenantry_session/);
    const slow = refresh(refreshToken);
    await reached;
    const answers = [refresh(refreshToken, 'dept:read')];
    letGo();
    const all = await Promise.all([slow, ...answers]);
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const session = await sessionOf(refreshToken);
    // The one that came second has found an old token in use, and has ended the session.
    expect(session.endedAt).not.toBeNull();
    const won = all.find(({ status }) => status === 200)?.body.data as Tokens | undefined;
    if (won) expect(session.scope).toBe(won.scope);
  });

  it('a refresh that narrows does so when the database does not answer to it', async () => {
    const { refreshToken } = await signIn('dept:read dept:write');
    const isLost = loseNextAnswer(service.dataSource, /^UPDATE .tenantry_session/);
    const narrow = await renew(refreshToken, 'dept:read');
    expect([isLost(), narrow.scope]).toEqual([true, 'dept:read']);
    expect((await renew(narrow.refreshToken)).scope).toBe('dept:read');
  });

  it('a session that is limited holds less while the account has a lower role, and is told so', async () => {
    const first = await signIn('dept:read dept:write');
    await setRole('member');
    expect((await whoAmI(first.accessToken)).permissions).toEqual(['dept:read']);
    // A client may send the same scope with every refresh.
    const lower = await renew(first.refreshToken, 'dept:read dept:write');
    expect([lower.scope, claimOf(lower)]).toEqual(['dept:read', 'dept:read']);
    expectRefused(await refresh(lower.refreshToken, 'dept:write'), 400, 'INVALID_SCOPE');
    const still = await renew(lower.refreshToken);
    expect(still.scope).toBe('dept:read');
    await setRole('tenant_admin');
    expect((await whoAmI(still.accessToken)).permissions).toEqual(['dept:read']);
    expect((await renew(still.refreshToken, 'dept:read dept:write')).scope).toBe('dept:read dept:write');
  });

  it('the token endpoint takes a scope for both grants, and tells what was granted', async () => {
    const answer = async (form: Record<string, string>) =>
      JSON.parse((await token(form)).text) as Record<string, string>;
    const grant = { grant_type: 'password', username: `${tenantId}/${username}`, password: PASSWORD };
    expect((await answer({ ...grant, scope: '' })).scope).toMatch(/^dept:read dept:write /);
    const first = await answer({ ...grant, scope: 'quota:read dept:read' });
    expect(first.scope).toBe('dept:read quota:read');
    const more = { grant_type: 'refresh_token', refresh_token: first.refresh_token! };
    expect((await answer({ ...more, scope: 'dept:write' })).error).toBe('invalid_scope');
    const second = await answer({ ...more, scope: 'dept:read' });
    expect(second.scope).toBe('dept:read');
    const api = service.anonymous.as(second.access_token!);
    expect((await api.get('/system/quota-api')).refusal.permission).toBe('quota:read');
  });

  it('a limited administrator is told no cursor of changes without change:read', async () => {
    await aDept(admin);
    const cursorWith = async (scope?: string) => {
      const { accessToken } = await signIn(scope);
      return (await service.anonymous.as(accessToken).get('/system/dept-api')).headers['x-change-cursor'];
    };
    expect(await cursorWith()).toBeDefined();
    expect(await cursorWith('dept:read change:read')).toBeDefined();
    expect(await cursorWith('dept:read')).toBeUndefined();
  });
});
