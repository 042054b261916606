import { signToken } from '../../src/server/auth/token-issuer';
import { aDept } from '../../src/server/testing';
import { jumpAhead } from '../support/hand-clock';
import { recordQueries } from '../support/query-recorder';
import { JWT, ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

/** Tokens, accounts and tenants are cached between requests. */
describe('the pipeline that every request passes', () => {
  const service = ServiceUnderTest.use({ RATE_LIMIT: 'on' });

  it('a cached token is not accepted after it has expired', async () => {
    const claims = { subject: 'somebody', tenantId: '000000', username: 'x', roles: ['member'] as const };
    const api = service.anonymous.as(signToken(claims, JWT, 600));
    expect((await api.get(PATH)).status).toBe(200);
    const later = jumpAhead(601_000);
    for (let n = 0; n < 2; n += 1) expect((await api.get(PATH)).refusal.reason).toBe('TOKEN_EXPIRED');
    later.mockRestore();
  });

  it('every request counts once against the limit of its user', async () => {
    const api = service.as({ username: 'counted' });
    const left = async (path: string) => Number((await api.get(path)).headers['ratelimit-remaining']);
    const start = await left(PATH);
    expect([await left(`${PATH}/999999999`), await left(`${PATH}/x`)]).toEqual([start - 1, start - 2]);
  });

  it('a department is read with one statement, which names the tenant', async () => {
    const deptId = await aDept(service.as());
    const admin = { username: 'admin', password: 'admin-password' };
    const { data } = (await service.anonymous.post('/auth/login', admin)).body;
    const signedIn = service.anonymous.as((data as { accessToken: string }).accessToken);
    for (const api of [service.as(), signedIn]) {
      await api.get(`${PATH}/${deptId}`);
      const queries = await recordQueries(service.dataSource, () => api.get(`${PATH}/${deptId}`));
      expect(queries).toHaveLength(1);
      expect(queries[0]!.sql).toMatch(/ FROM .tenantry_dept. t WHERE .*\btenant_id. = (\?|\$\d)/);
      expect(queries[0]!.parameters).toContain('000000');
    }
  });
});
