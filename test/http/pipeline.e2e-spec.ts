import { setTimeout as sleep } from 'node:timers/promises';
import { signToken } from '../../src/server/auth/sign-token';
import { aDept, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { recordQueries } from '../support/query-recorder';
import { JWT, ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

/** Tokens, accounts and tenants are cached between requests; each test asks twice, so that the second answer may come from a cache. */
describe('the pipeline that every request passes', () => {
  const service = ServiceUnderTest.use({ RATE_LIMIT: 'on' });
  let root: ApiClient;
  let deptId: number;

  beforeAll(async () => {
    root = service.as({ roles: ['superadmin'] });
    deptId = await aDept(root, { deptName: '研发部' });
  });

  it('shows every committed change at once', async () => {
    for (let n = 1; n <= 20; n += 1) {
      await root.patch(`${PATH}/${deptId}`, { orderNum: n });
      expect((await root.get(`${PATH}/${deptId}`)).body.data).toMatchObject({ orderNum: n });
    }
  });

  it('does not accept a token after it has expired', async () => {
    const claims = { subject: 'somebody', tenantId: '000000', username: 'x', roles: ['member'] as const };
    const api = service.anonymous.as(signToken(claims, JWT, 2));
    expect((await api.get(`${PATH}/${deptId}`)).status).toBe(200);
    await sleep(2000);
    for (let n = 0; n < 2; n += 1)
      expect((await api.get(`${PATH}/${deptId}`)).refusal.reason).toBe('TOKEN_EXPIRED');
  });

  it('refuses at once when the session ends, the tenant is disabled, or the account is', async () => {
    const tenant = await aTenant(root);
    const admin = service.as({ tenantId: tenant.tenantId });
    const own = `${PATH}/${await aDept(admin)}`;
    const userId = await aUser(admin, { username: 'somebody', roles: ['member'] });
    const login = { tenantId: tenant.tenantId, username: 'somebody', password: 'a-long-password' };
    const signIn = async () => {
      const { data } = (await service.anonymous.post('/auth/login', login)).body;
      return service.anonymous.as((data as { accessToken: string }).accessToken);
    };
    const [first, second] = [await signIn(), await signIn()];
    for (const api of [first, second]) expect((await api.get(own)).status).toBe(200);
    await first.post('/auth/logout', {});
    expect((await first.get(own)).status).toBe(401);
    expect((await second.get(own)).status).toBe(200);
    await root.put('/system/tenant-api', { ...tenant, status: '1' });
    expect((await second.get(own)).refusal.reason).toBe('TENANT_DISABLED');
    await root.put('/system/tenant-api', { ...tenant, status: '0' });
    expect((await second.get(own)).status).toBe(200);
    await admin.put('/system/user-api', { userId, username: 'somebody', status: '1' });
    expect((await second.get(own)).status).toBe(401);
  });

  it('counts every request once against the limit of its user', async () => {
    const api = service.as({ username: 'counted' });
    const left = async (path: string) => Number((await api.get(path)).headers['ratelimit-remaining']);
    const start = await left(`${PATH}/${deptId}`);
    expect(await left(`${PATH}/${deptId}`)).toBe(start - 1);
    expect(await left(`${PATH}/999999999`)).toBe(start - 2);
    expect(await left(`${PATH}/x`)).toBe(start - 3);
  });

  it('reads a department with one statement, which names the tenant', async () => {
    await root.get(`${PATH}/${deptId}`);
    const queries = await recordQueries(service.dataSource, () => root.get(`${PATH}/${deptId}`));
    expect(queries).toHaveLength(1);
    expect(queries[0]!.sql).toMatch(/WHERE .tenant_id. = \? AND .del_flag. = \? AND .dept_id. IN \(\?/);
    expect(queries[0]!.parameters[0]).toBe('000000');
  });
});
