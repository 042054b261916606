import { randomUUID } from 'node:crypto';
import { OrganisationInterceptor } from '../../src/api/organisation.interceptor';
import { signToken } from '../../src/auth/sign-token';
import { aDept, type Answer, type ApiClient, aTenant, aUser } from '../../src/testing';
import { recordQueries } from '../support/query-recorder';
import { JWT, ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const PATH = '/system/dept-api';
/** A condition that no answer meets; it changes nothing but the way that the request takes. */
const THE_LONG_WAY = { 'if-none-match': '"none"' };

describe('the fast lane', () => {
  let service: ServiceUnderTest;
  let root: ApiClient;
  let deptId: number;
  let routed: jest.SpyInstance;

  beforeAll(async () => {
    service = await ServiceUnderTest.start({ RATE_LIMIT: 'on' });
    root = service.as({ roles: ['superadmin'] });
    deptId = await aDept(root, { deptName: '研发部', leader: '张三', orderNum: 7, email: 'a@b.cn' });
    routed = jest.spyOn(OrganisationInterceptor.prototype, 'intercept');
  });
  beforeEach(() => routed.mockClear());
  afterAll(() => {
    routed.mockRestore();
    return service.stop();
  });

  /** All that a client can see, but what every answer has of its own. */
  function seen({ status, headers, text }: Answer) {
    const { date: _, 'ratelimit-remaining': __, 'ratelimit-reset': ___, ...rest } = headers;
    return { status, headers: rest, names: Object.keys(headers), text };
  }

  /** The same request on both ways, after one that made its token known; what came by the fast one. */
  async function compare(api: ApiClient, path = `${PATH}/${deptId}`, method = 'GET'): Promise<Answer> {
    await api.send(method, path);
    const named = api.with({ 'x-request-id': randomUUID() });
    const [fast, plain] = [
      await named.send(method, path),
      await named.send(method, path, undefined, THE_LONG_WAY),
    ];
    expect(seen(fast)).toEqual(seen(plain));
    return fast;
  }

  it('answers a department exactly as the router does, without the router', async () => {
    const answer = await compare(root);
    expect(answer.body).toEqual({
      code: 200,
      msg: '操作成功',
      data: expect.objectContaining({ deptId, deptName: '研发部', leader: '张三', phone: null }) as unknown,
    });
    // By the one that was sent the long way.
    expect(routed).toHaveBeenCalledTimes(1);
    expect((await compare(service.as({ roles: ['member'] }))).status).toBe(200);
  });

  it('shows every committed change at once', async () => {
    for (let n = 1; n <= 20; n += 1) {
      await root.patch(`${PATH}/${deptId}`, { orderNum: n });
      expect((await root.get(`${PATH}/${deptId}`)).body.data).toMatchObject({ orderNum: n });
    }
    expect((await compare(root)).headers.etag).not.toBe('"0"');
  });

  it.each(['0', '999999999', '007', '1e3', '+1', '-1', '1.0', 'x', '9007199254740993', '99999999999999999'])(
    'refuses the id %s in the same words',
    async (id) => {
      expect([400, 404]).toContain((await compare(root, `${PATH}/${id}`)).status);
    },
  );

  it('leaves every other form of the request to the router', async () => {
    const forms = [
      `${PATH}/${deptId}/`,
      `${PATH}/${deptId}?x=1`,
      `${PATH}//${deptId}`,
      `/System/dept-api/${deptId}`,
    ];
    for (const form of forms) await compare(root, form);
    await compare(root, `${PATH}/${deptId}`, 'HEAD');
    routed.mockClear();
    expect((await root.send('GET', `${PATH}/${deptId}`, '{}', { 'content-length': '2' })).status).toBe(200);
    const { etag = '' } = (await root.get(`${PATH}/${deptId}`)).headers;
    expect((await root.get(`${PATH}/${deptId}`, { 'if-none-match': etag })).status).toBe(304);
    expect(routed).toHaveBeenCalledTimes(2);
  });

  it('speaks the language that is asked for, and is silent about other tenants', async () => {
    const { tenantId } = await aTenant(root);
    const other = service.as({ tenantId }).with({ 'accept-language': 'en' });
    const foreign = await compare(other);
    expect([foreign.status, foreign.refusal.reason]).toEqual([404, 'DEPT_NOT_FOUND']);
    const gone = await aDept(root);
    await root.delete(`${PATH}/${gone}`);
    expect((await compare(root, `${PATH}/${gone}`)).status).toBe(404);
  });

  it('refuses who has no role, no token, or a token of another form', async () => {
    expect((await compare(service.as({ roles: [] }))).refusal.reason).toBe('ROLE_REQUIRED');
    expect((await compare(service.anonymous)).status).toBe(401);
    const token = bearerOf(root).slice('Bearer '.length);
    for (const authorization of [`bearer ${token}`, `Bearer  ${token}`, `Bearer ${token}x`, token]) {
      expect((await compare(service.anonymous.with({ authorization }))).status).toBe(401);
    }
    const twice = service.anonymous.with({ authorization: [`Bearer ${token}`, `Bearer ${token}`] });
    expect((await compare(twice)).status).toBe(401);
  });

  it('does not know a token longer than it lives', async () => {
    const claims = { subject: 'somebody', tenantId: '000000', username: 'x', roles: ['member'] as const };
    const api = service.anonymous.as(signToken(claims, JWT, 60));
    expect((await compare(api)).status).toBe(200);
    const later = Date.now() + 60_000;
    const now = jest.spyOn(Date, 'now').mockReturnValue(later);
    try {
      expect((await api.get(`${PATH}/${deptId}`)).refusal.reason).toBe('TOKEN_EXPIRED');
      expect((await compare(api)).refusal.reason).toBe('TOKEN_EXPIRED');
    } finally {
      now.mockRestore();
    }
  });

  it('refuses at once when the session ends, the tenant is disabled, or the account is', async () => {
    const tenant = await aTenant(root);
    const admin = service.as({ tenantId: tenant.tenantId });
    const own = await aDept(admin);
    const userId = await aUser(admin, { username: 'somebody', roles: ['member'] });
    const login = { tenantId: tenant.tenantId, username: 'somebody', password: 'a-long-password' };
    const signIn = async () => {
      const { accessToken } = (await service.anonymous.post('/auth/login', login)).body.data as {
        accessToken: string;
      };
      return service.anonymous.as(accessToken);
    };
    const first = await signIn();
    const second = await signIn();
    expect((await compare(first, `${PATH}/${own}`)).status).toBe(200);
    expect((await compare(second, `${PATH}/${own}`)).status).toBe(200);
    await first.post('/auth/logout', {});
    expect((await first.get(`${PATH}/${own}`)).status).toBe(401);
    expect((await second.get(`${PATH}/${own}`)).status).toBe(200);
    await root.put('/system/tenant-api', { ...tenant, status: '1' });
    expect((await second.get(`${PATH}/${own}`)).refusal.reason).toBe('TENANT_DISABLED');
    expect((await compare(second, `${PATH}/${own}`)).refusal.reason).toBe('TENANT_DISABLED');
    await root.put('/system/tenant-api', { ...tenant, status: '0' });
    expect((await compare(second, `${PATH}/${own}`)).status).toBe(200);
    await admin.put('/system/user-api', { userId, username: 'somebody', status: '1' });
    expect((await second.get(`${PATH}/${own}`)).status).toBe(401);
  });

  it('counts every request once, whichever way it takes', async () => {
    const api = service.as({ username: 'counted' });
    const left = async (path: string, headers = {}) =>
      Number((await api.get(path, headers)).headers['ratelimit-remaining']);
    const start = await left(`${PATH}/${deptId}`);
    expect(await left(`${PATH}/${deptId}`)).toBe(start - 1);
    expect(await left(`${PATH}/999999999`)).toBe(start - 2);
    expect(await left(`${PATH}/${deptId}`, THE_LONG_WAY)).toBe(start - 3);
    expect(await left(`${PATH}/x`)).toBe(start - 4);
  });

  it('asks the database once for a department, and for many at once less often', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => aDept(root)));
    const { tenantId } = await aTenant(root);
    const stranger = service.as({ tenantId });
    await stranger.get(`${PATH}/${deptId}`);
    const one = await recordQueries(service.dataSource, () => root.get(`${PATH}/${deptId}`));
    expect(one).toHaveLength(1);
    const many = await recordQueries(service.dataSource, async () => {
      const own = ids.map(async (id) => (await root.get(`${PATH}/${id}`)).body.data as { deptId: number });
      const foreign = ids.map((id) => stranger.get(`${PATH}/${id}`));
      expect((await Promise.all(own)).map((dept) => dept.deptId)).toEqual(ids);
      for (const { status } of await Promise.all(foreign)) expect(status).toBe(404);
    });
    expect(many.length).toBeLessThanOrEqual(80);
    for (const { sql, parameters } of [...one, ...many]) {
      expect(sql).toMatch(/WHERE .tenant_id. = \? AND .del_flag. = \? AND .dept_id. IN \(\?/);
      expect(['000000', tenantId]).toContain(parameters[0]);
    }
  });

  describe('for new departments', () => {
    /** What came back for the same body on both ways; the id in `Location` apart. */
    async function compareNew(api: ApiClient, body: unknown, headers = {}): Promise<Answer> {
      await api.get(`${PATH}/${deptId}`);
      const named = api.with({ 'x-request-id': randomUUID(), ...headers });
      const fast = await named.post(PATH, body);
      const calls = routed.mock.calls.length;
      const plain = await named.post(PATH, body, { 'idempotency-key': randomUUID() });
      if (fast.status === 200) expect(routed.mock.calls.length).toBe(calls + 1);
      const unnumbered = (answer: Answer) => ({
        ...seen(answer),
        headers: { ...seen(answer).headers, location: answer.headers.location?.replace(/[0-9]+$/, '') },
      });
      expect(unnumbered(fast)).toEqual(unnumbered(plain));
      return fast;
    }

    it('makes them as the router does, without the router', async () => {
      const before = routed.mock.calls.length;
      const sent = { parentId: deptId, deptName: ' 测试 ', orderNum: 3, leader: null, unknown: 1 };
      const answer = await compareNew(root, sent);
      expect([answer.status, answer.body.data, routed.mock.calls.length]).toEqual([200, null, before + 1]);
      const made = (await root.get(answer.headers.location!)).body.data;
      expect(made).toMatchObject({
        parentId: deptId,
        deptName: '测试',
        orderNum: 3,
        leader: null,
        createBy: 'tester',
      });
      expect((await compareNew(root, {})).status).toBe(200);
    });

    it.each([
      [{ parentId: 999999999 }],
      [{ parentId: -1 }],
      [{ orderNum: 'x', deptName: 'y'.repeat(65), status: '7' }],
      [{ tenantId: '999999' }],
      [{ ['__proto__']: 1, deptName: { $ne: 1 } }],
      [[]],
      [[{}]],
      ['"text"'],
      ['null'],
      ['{'],
      [''],
      [`${'['.repeat(40)}${']'.repeat(40)}`],
      [`{"deptName":${'['.repeat(40)}${']'.repeat(40)}}`],
    ])('refuses %j in the same words', async (body) => {
      expect((await compareNew(root, body)).status).toBeGreaterThanOrEqual(400);
    });

    it('refuses who may not, and what is of another type, in the same words', async () => {
      expect((await compareNew(service.as({ roles: ['member'] }), {})).refusal.reason).toBe('ROLE_REQUIRED');
      expect((await compareNew(service.anonymous, {})).status).toBe(401);
      for (const type of ['text/plain', 'application/json; charset=latin1', 'application/merge-patch+json']) {
        expect((await compareNew(root, {}, { 'content-type': type })).status).toBe(415);
      }
      expect((await compareNew(root, {}, { 'content-type': 'application/json; charset=UTF-8' })).status).toBe(
        200,
      );
    });

    it('leaves no double where one key is sent twice', async () => {
      const key = { 'idempotency-key': randomUUID() };
      const [first, second] = [await root.post(PATH, {}, key), await root.post(PATH, {}, key)];
      expect(second.headers.location).toBe(first.headers.location);
    });
  });

  it('leaves a line in the log, as every request does', async () => {
    await root.get(`${PATH}/${deptId}`, { 'x-request-id': 'in-the-lane' });
    const line = () => service.log.find((each) => each.includes('in-the-lane'));
    await until(() => line() !== undefined);
    expect(JSON.parse(line()!)).toMatchObject({ path: `${PATH}/${deptId}`, status: 200, user: 'tester' });
  });
});

function bearerOf(api: ApiClient): string {
  return (api as unknown as { headers: { authorization: string } }).headers.authorization;
}
