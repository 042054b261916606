import { ChangeWaiters } from '../../src/changes/change-waiters';
import { signToken } from '../../src/server/auth/token-issuer';
import { type Answer, type ApiClient, aDept, aTenant, aUser } from '../../src/server/testing';
import {
  DeptService,
  PrincipalResolver,
  RequestContext,
  TenantryModule,
  type Principal,
} from '../../src/index';
import { CHANGES, cursorNow } from '../support/follower';
import { jumpAhead } from '../support/hand-clock';
import { Host } from '../support/host';
import { aTenantRow } from '../support/seeds';
import { JWT, ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const USERS = '/system/user-api';
const KEYS = '/system/key-api';
const PASSWORD = 'a-long-password';

interface Subject {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: number;
  readonly username: string;
  /** Of the same tenant, with a token of its own. */
  readonly admin: ApiClient;
  readonly api: ApiClient;
}

describe('a follower who has lost the right to follow while it waited', () => {
  const service = ServiceUnderTest.use();
  afterEach(() => jest.restoreAllMocks());

  const root = () => service.as({ roles: ['superadmin'] });
  const waiters = () => service.app.get(ChangeWaiters, { strict: false });

  async function aSubject(): Promise<Subject> {
    const { id, tenantId } = await aTenant(root());
    const admin = service.as({ tenantId });
    const username = 'follower';
    const userId = await aUser(admin, { username, roles: ['tenant_admin'] });
    const login = await service.anonymous.post('/auth/login', { tenantId, username, password: PASSWORD });
    const { accessToken } = login.body.data as { accessToken: string };
    return { id, tenantId, userId, username, admin, api: service.anonymous.as(accessToken) };
  }

  /** Follows, loses its right, and then something changes. */
  async function answerAfter(
    api: ApiClient,
    query: string,
    loseRight: () => Promise<unknown>,
    change: () => Promise<unknown>,
  ) {
    const after = await cursorNow(api);
    const answer = api.get(`${CHANGES}?after=${after}&wait=25${query}`);
    await until(() => waiters().count === 1);
    await loseRight();
    await change();
    const { status, body } = await answer;
    return [status, status === 200 ? body.data : (body.data as { reason: string }).reason];
  }

  const losses: Readonly<Record<string, [(subject: Subject) => Promise<Answer>, number, string]>> = {
    'signed out': [({ api }) => api.post('/auth/logout', {}), 401, 'TOKEN_INVALID'],
    'password reset': [
      ({ userId, admin }) => admin.put(`${USERS}/password`, { userId, newPassword: 'another-password' }),
      401,
      'TOKEN_INVALID',
    ],
    'account disabled': [
      ({ userId, username, admin }) =>
        admin.put(USERS, { userId, username, roles: ['tenant_admin'], status: '1' }),
      401,
      'TOKEN_INVALID',
    ],
    'account deleted': [({ userId, admin }) => admin.delete(`${USERS}/${userId}`), 401, 'TOKEN_INVALID'],
    'account demoted': [
      ({ userId, username, admin }) => admin.put(USERS, { userId, username, roles: ['member'] }),
      403,
      'ROLE_REQUIRED',
    ],
    'tenant disabled': [
      ({ id }) => root().patch(`/system/tenant-api/${id}`, { status: '1' }),
      403,
      'TENANT_DISABLED',
    ],
    'tenant expired': [
      ({ id }) => root().patch(`/system/tenant-api/${id}`, { endTime: '2020-01-01' }),
      403,
      'TENANT_EXPIRED',
    ],
  };

  // What the loss itself writes to the journal wakes a follower of all kinds; one of departments waits on.
  describe.each(['', '&kinds=dept'])('the query "%s"', (query) => {
    it.each(Object.entries(losses))(
      'a follower without its right is refused as anybody else: %s',
      async (_, [lose, status, reason]) => {
        const subject = await aSubject();
        const loseRight = async () => {
          expect((await lose(subject)).status).toBe(200);
        };
        const change = () => service.app.get(DeptService).create(RequestContext.system(subject.tenantId), {});
        expect(await answerAfter(subject.api, query, loseRight, change)).toEqual([status, reason]);
      },
    );

    it('a follower whose key is deleted is refused as anybody else', async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const admin = service.as({ tenantId });
      const body = { name: 'follower', roles: ['tenant_admin'], permissions: ['change:read'] };
      const { id, secret } = (await admin.post(KEYS, body)).body.data as { id: number; secret: string };
      const loseRight = () => admin.delete(`${KEYS}/${id}`);
      const answer = await answerAfter(service.anonymous.as(secret), query, loseRight, () => aDept(admin));
      expect(answer).toEqual([401, 'KEY_INVALID']);
    });

    it('a follower whose token has expired is refused as anybody else', async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const caller = { subject: 'test|short', tenantId, username: 'short', roles: ['tenant_admin'] as const };
      const api = service.anonymous.as(signToken(caller, JWT, 600));
      const loseRight = () => Promise.resolve(jumpAhead(601_000));
      const change = () => aDept(service.as({ tenantId }));
      expect(await answerAfter(api, query, loseRight, change)).toEqual([401, 'TOKEN_EXPIRED']);
    });
  });

  it('a follower without its right is refused also when nothing has changed until its time is over', async () => {
    const { api, userId, admin } = await aSubject();
    const after = await cursorNow(api);
    const answer = api.get(`${CHANGES}?after=${after}&wait=1&kinds=dept`);
    await until(() => waiters().count === 1);
    await admin.delete(`${USERS}/${userId}`);
    expect((await answer).status).toBe(401);
  });
});

describe('a follower in a host', () => {
  /** The host's own sign-in, which may change its mind. */
  class Callers extends PrincipalResolver {
    caller: Principal | null = null;
    override resolve(): Principal | null {
      return this.caller;
    }
  }
  const callers = new Callers();
  let host: Host;

  beforeAll(async () => {
    host = await Host.start({
      imports: [TenantryModule.forRoot({ principalResolver: callers, userDirectory: 'none' })],
    });
  });
  afterAll(() => host.stop());

  it.each([
    ['nobody', null, 401],
    ['a member', { roles: ['member'] }, 403],
    ['somebody of another tenant', { tenantId: '000000' }, 401],
    ['still the same', {}, 200],
  ] as const)(
    'the host is asked for the caller again before a follower is answered: %s',
    async (_, now, status) => {
      const tenantId = await aTenantRow(host.dataSource);
      const caller: Principal = { subject: 'a', tenantId, username: 'a', roles: ['tenant_admin'] };
      callers.caller = caller;
      const after = await cursorNow(host.anonymous);
      const answer = host.anonymous.get(`${CHANGES}?after=${after}&wait=25`);
      await until(() => host.app.get(ChangeWaiters, { strict: false }).count === 1);
      callers.caller = now && { ...caller, ...now };
      await aDept({ app: host.app, ctx: RequestContext.system(tenantId) });
      expect((await answer).status).toBe(status);
    },
  );
});
