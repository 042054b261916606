import { randomUUID } from 'node:crypto';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { RetryBudget } from '../../src/database/retry-policy';
import { ChangeWaiters } from '../../src/changes/change-waiters';
import { DeptService } from '../../src/dept/dept.service';
import { aDept, ApiClient, aTenant, aUser } from '../../src/server/testing';
import { OverloadProtection } from '../../src/server/overload/overload-protection';
import { readExposition } from '../support/exposition';
import { freePort } from '../support/free-port';
import { ServiceUnderTest } from '../support/service-under-test';
import { onServer } from '../support/test-database';
import { until } from '../support/until';

const PATH = '/system/dept-api';
const ONE = `${PATH}/:id`;

describe('the metrics', () => {
  let service: ServiceUnderTest;
  let api: ApiClient;
  let scraper: ApiClient;

  beforeAll(async () => {
    const port = await freePort();
    const limits = { RATE_LIMIT: 'on', RATE_LIMIT_LOGIN_ACCOUNT: '2' };
    service = await ServiceUnderTest.start({ METRICS_PORT: String(port), ...limits });
    api = service.as({ roles: ['superadmin'], username: 'somebody-special' });
    scraper = new ApiClient(`http://127.0.0.1:${port}`);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await service.stop();
    await expect(scraper.get('/metrics')).rejects.toThrow('ECONNREFUSED');
    scraper.close();
  });

  const scrape = async () => readExposition((await scraper.get('/metrics')).text);

  /** Once nothing is under way: a request is counted when it is over, which may be after its answer has come. */
  async function settled(): Promise<Map<string, number>> {
    let samples = new Map<string, number>();
    await until(async () => {
      samples = await scrape();
      return samples.get('tenantry_http_requests_in_flight') === 0;
    });
    return samples;
  }

  async function growth(work: () => Promise<unknown>): Promise<Map<string, number>> {
    const before = await settled();
    await work();
    return new Map([...(await settled())].map(([key, value]) => [key, value - (before.get(key) ?? 0)]));
  }

  const requests = (method: string, route: string, status: number, reason = '') =>
    `tenantry_http_requests_total{method="${method}",route="${route}",status="${status}",reason="${reason}"}`;

  it('the metrics are on a port of their own, and nowhere on that of the API', async () => {
    const { status, headers } = await scraper.get('/metrics?x=1');
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect((await scraper.get('/')).status).toBe(404);
    expect((await scraper.get(`${PATH}/1`)).status).toBe(404);
    expect((await scraper.post('/metrics', {})).status).toBe(404);
    expect((await api.get('/metrics')).refusal.reason).toBe('ROUTE_NOT_FOUND');
  });

  it('the metrics count every request once, by the template of its route, whichever way it takes', async () => {
    const deptId = await aDept(api);
    const grown = await growth(async () => {
      await api.get(`${PATH}/${deptId}`);
      await api.get(`${PATH}/${deptId}`, { 'if-none-match': '"none"' });
      await api.post(PATH, {});
      await api.post(PATH, {}, { 'idempotency-key': randomUUID() });
      await api.get(`${PATH}/999999998`);
      await api.get(`${PATH}/999999998`, { 'if-none-match': '"none"' });
      await service.anonymous.get(`${PATH}/1`);
      await api.get('/nowhere/12345');
      await api.get('/elsewhere');
      await api.post(PATH, '{');
    });
    const counted = [...grown].filter(
      ([key, by]) => key.startsWith('tenantry_http_requests_total') && by > 0,
    );
    expect(Object.fromEntries(counted)).toEqual({
      [requests('GET', ONE, 200)]: 2,
      [requests('POST', PATH, 200)]: 2,
      [requests('GET', ONE, 404, 'DEPT_NOT_FOUND')]: 2,
      [requests('GET', ONE, 401, 'TOKEN_MISSING')]: 1,
      [requests('GET', 'none', 404, 'ROUTE_NOT_FOUND')]: 2,
      [requests('POST', PATH, 400, 'MALFORMED_REQUEST')]: 1,
    });
    const durations = `tenantry_http_request_duration_seconds`;
    expect(grown.get(`${durations}_count{method="GET",route="${ONE}"}`)).toBe(5);
    expect(grown.get(`${durations}_bucket{le="+Inf",method="GET",route="${ONE}"}`)).toBe(5);
    expect(grown.get('tenantry_unit_wait_seconds_count')).toBe(2);
  });

  it('the metrics count probes apart from requests', async () => {
    const grown = await growth(async () => {
      await service.anonymous.get('/health/live');
      await service.anonymous.get('/health/ready');
      await service.anonymous.get('/health/ready');
    });
    const counted = [...grown].filter(([key, by]) => key.startsWith('tenantry_http_') && by > 0);
    expect(Object.fromEntries(counted)).toEqual({
      'tenantry_http_probes_total{route="/health/live",status="200"}': 1,
      'tenantry_http_probes_total{route="/health/ready",status="200"}': 2,
    });
  });

  it('the metrics leave waiting for changes out of the durations, also of followers that go away', async () => {
    const { nextCursor } = (await api.get('/system/change-api?limit=100')).body.data as {
      nextCursor: string;
    };
    const follow = `/system/change-api?after=${nextCursor}&wait=`;
    const { authorization } = (api as unknown as { headers: { authorization: string } }).headers;
    const before = service.log.length;
    const grown = await growth(async () => {
      await api.get(`${follow}1`);
      const leaving = new AbortController();
      const { signal } = leaving;
      const gone = fetch(`${api.baseUrl}${follow}20`, { headers: { authorization }, signal });
      // It waits, and has given back its place of work.
      const overload = service.app.get(OverloadProtection);
      await until(() => service.app.get(ChangeWaiters).count === 1 && overload.counts.inWork === 0);
      leaving.abort();
      await expect(gone).rejects.toThrow('aborted');
    });
    const followers = service.log
      .slice(before)
      .map((line) => JSON.parse(line) as { ms: number; waitedMs?: number })
      .filter(({ waitedMs }) => waitedMs !== undefined);
    expect(followers).toHaveLength(2);
    const seconds = followers.reduce((sum, { ms, waitedMs = 0 }) => sum + (ms - waitedMs) / 1000, 0);
    const durations = 'tenantry_http_request_duration_seconds';
    const labels = 'method="GET",route="/system/change-api"';
    expect(grown.get(`${durations}_count{${labels}}`)).toBe(2);
    expect(grown.get(`${durations}_sum{${labels}}`)).toBeCloseTo(seconds, 2);
  });

  it('the metrics count who asked for more of a quota than there is, by its kind', async () => {
    const grown = await growth(async () => {
      await api.post('/system/quota-api/merchant/use', { key: 'too much' });
      await api.post('/system/quota-api/merchant/reservations', { key: 'too much', amount: 1, seconds: 1 });
      await api.post('/system/quota-api/no-such-kind/use', { key: 'unknown' });
    });
    const counted = [...grown].filter(([key]) => key.startsWith('tenantry_quota_refusals_total'));
    expect(counted.filter(([, by]) => by > 0)).toEqual([
      ['tenantry_quota_refusals_total{kind="merchant"}', 2],
    ]);
    expect(counted).toHaveLength(6);
  });

  it('the metrics count sign-ins, refreshes and sign-outs by what became of them', async () => {
    const { tenantId } = await aTenant(api);
    await aUser(service.as({ tenantId }), { username: 'first' });
    const login = (username: string, password = 'a-long-password') =>
      service.anonymous.post('/auth/login', { tenantId, username, password });
    const grown = await growth(async () => {
      await login('nobody');
      await login('first', 'wrong-password');
      const { accessToken, refreshToken } = (await login('first')).body.data as Record<string, string>;
      // The rate limit has refused it: nobody knows whether the password was right.
      expect((await login('first')).status).toBe(429);
      await service.anonymous.post('/auth/refresh', { refreshToken });
      await service.anonymous.post('/auth/refresh', { refreshToken: 'made.up' });
      await service.anonymous.as(accessToken!).post('/auth/logout', {});
    });
    const counted = [...grown].filter(([key]) => key.startsWith('tenantry_sign_ins_total'));
    const signIns = (kind: string, outcome: string) =>
      `tenantry_sign_ins_total{kind="${kind}",outcome="${outcome}"}`;
    expect(Object.fromEntries(counted.filter(([, by]) => by > 0))).toEqual({
      [signIns('sign_in', 'unknown_user')]: 1,
      [signIns('sign_in', 'wrong_password')]: 1,
      [signIns('sign_in', 'signed_in')]: 1,
      [signIns('refresh', 'refreshed')]: 1,
      [signIns('refresh', 'unknown_session')]: 1,
      [signIns('sign_out', 'signed_out')]: 1,
    });
    // All from the start, so that the first of its kind is an increase.
    expect(counted).toHaveLength(18);
  });

  it('the metrics tell nothing about tenants and users', async () => {
    const { tenantId, id } = await aTenant(api);
    await service.as({ tenantId, username: 'somebody-else' }).get(`${PATH}/777777`);
    await api.get(`/system/tenant-api/${id}`);
    const names = [...(await scrape()).keys()].join('\n');
    for (const told of [tenantId, id, '000000', 'somebody', '777777']) expect(names).not.toContain(told);
  });

  it('the metrics count failures and limits that were met', async () => {
    const login = { username: 'nobody', password: 'wrong-password' };
    jest.spyOn(DeptService.prototype, 'get').mockRejectedValueOnce(new Error('a fault'));
    const grown = await growth(async () => {
      await api.get(`${PATH}/1`);
      for (let tries = 0; tries < 3; tries += 1) await service.anonymous.post('/auth/login', login);
    });
    expect(grown.get(requests('GET', ONE, 500, 'INTERNAL_ERROR'))).toBe(1);
    expect(grown.get(requests('POST', '/auth/login', 401, 'BAD_CREDENTIALS'))).toBe(2);
    expect(grown.get(requests('POST', '/auth/login', 429, 'RATE_LIMITED'))).toBe(1);
  });

  it('the metrics show what is going on just now, and count clients that went away', async () => {
    let begin: () => void = () => undefined;
    let finish: (error: Error) => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    jest.spyOn(DeptService.prototype, 'get').mockImplementation(() => {
      begin();
      return new Promise((_, reject) => (finish = reject));
    });
    const aborting = new AbortController();
    const { authorization } = (api as unknown as { headers: { authorization: string } }).headers;
    const asked = fetch(`${api.baseUrl}${PATH}/1`, { headers: { authorization }, signal: aborting.signal });
    await begun;
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    const busy = await scrape();
    expect(busy.get('tenantry_http_requests_in_flight')).toBe(1);
    expect(busy.get('tenantry_database_connections{state="used"}')).toBe(1);
    expect(busy.get('tenantry_database_connections_limit')).toBe(onServer ? 20 : 1);
    await runner.rollbackTransaction();
    await runner.release();
    aborting.abort();
    await expect(asked).rejects.toThrow('aborted');
    const idle = await settled();
    finish(new Error('nobody hears it'));
    expect(idle.get(requests('GET', ONE, 499, 'CLIENT_GONE'))).toBe(1);
    expect(idle.get('tenantry_http_requests_in_flight')).toBe(0);
    expect(idle.get('tenantry_database_connections{state="used"}')).toBe(0);
    expect(idle.get('tenantry_database_waiting')).toBe(0);
  });

  it('the metrics count units that are tried again, and those that are given up', async () => {
    const create = service.dataSource.createQueryRunner.bind(service.dataSource);
    const deadlock = Object.assign(new Error('Deadlock found'), { errno: 1213 });
    let failures = 2;
    const runners = jest.spyOn(service.dataSource, 'createQueryRunner').mockImplementation(() => {
      const runner = create();
      const start = runner.startTransaction.bind(runner);
      // Reads in the background begin none.
      return Object.assign(runner, {
        startTransaction: (level?: 'READ COMMITTED') =>
          failures-- > 0 ? Promise.reject(deadlock) : start(level),
      });
    });
    const retried = await growth(() => api.post(PATH, {}));
    expect(retried.get('tenantry_unit_retries_total{fault="conflict"}')).toBe(2);
    expect(retried.get('tenantry_unit_given_up_total{cause="conflict"}')).toBe(0);
    failures = 1;
    jest.spyOn(RetryBudget.prototype, 'next').mockReturnValueOnce(null);
    const givenUp = await growth(() => api.post(PATH, {}));
    expect(givenUp.get('tenantry_unit_retries_total{fault="conflict"}')).toBe(0);
    expect(givenUp.get('tenantry_unit_given_up_total{cause="conflict"}')).toBe(1);
    runners.mockRestore();
    expect(givenUp.get(requests('POST', PATH, 503, 'DATABASE_UNAVAILABLE'))).toBe(1);
  });

  it('the metrics know the process, its event loop, and who waits for a password to be checked', async () => {
    const samples = await scrape();
    for (const name of [
      'process_cpu_user_seconds_total',
      'process_resident_memory_bytes',
      'process_open_fds',
      'process_max_fds',
      'nodejs_heap_size_used_bytes',
      'nodejs_eventloop_lag_p50_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_eventloop_lag_max_seconds',
    ])
      expect([name, samples.get(name)]).toEqual([name, expect.any(Number)]);
    expect(samples.get('tenantry_password_checks{state="running"}')).toBe(0);
    expect(samples.get('tenantry_admission{state="waiting"}')).toBe(0);
    expect(samples.get('tenantry_admission_refused_total')).toBe(0);
    const hasher = service.app.get(PasswordHasher);
    jest.spyOn(hasher, 'counts', 'get').mockReturnValue({ inWork: 4, waiting: 16, refused: 0 });
    const busy = await scrape();
    expect(busy.get('tenantry_password_checks{state="running"}')).toBe(4);
    expect(busy.get('tenantry_password_checks{state="waiting"}')).toBe(16);
  });
});
