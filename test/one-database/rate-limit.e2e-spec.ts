import { jumpAhead } from '../support/hand-clock';
import { redisIsInstalled, startRedis } from '../support/redis-server';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const LIMITS = {
  RATE_LIMIT: 'on',
  RATE_LIMIT_LOGIN_ADDRESS: '12',
  RATE_LIMIT_LOGIN_ACCOUNT: '3',
  RATE_LIMIT_USER: '10',
};

describe('rate limits', () => {
  let service: ServiceUnderTest;

  beforeAll(async () => {
    service = await ServiceUnderTest.start(LIMITS);
  });
  afterAll(() => service.stop());

  it('rate limits count the requests of a user in its tenant, and tell how many are left', async () => {
    const api = service.as({ username: 'busy' });
    for (let left = 9; left >= 0; left -= 1) {
      const answer = await api.get('/system/dept-api/1');
      expect([
        answer.status,
        answer.headers['ratelimit-limit'],
        answer.headers['ratelimit-remaining'],
      ]).toEqual([404, '10', String(left)]);
    }
    const over = await api.get('/system/dept-api/1');
    expect([over.status, over.refusal.reason]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(over.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await service.as({ username: 'calm' }).get('/system/dept-api/1')).status).toBe(404);
    const elsewhere = service.as({ username: 'busy', tenantId: await aTenantRow(service.dataSource) });
    expect((await elsewhere.get('/system/dept-api/1')).status).toBe(404);
  });

  it('rate limits count sign-ins by account and by address, for every door', async () => {
    const login = (username: string) =>
      service.anonymous.post('/auth/login', { username, password: 'wrong-password' });
    for (let n = 0; n < 3; n += 1) expect((await login('victim')).status).toBe(401);
    expect((await login('victim')).refusal.reason).toBe('RATE_LIMITED');
    for (let n = 0; n < 8; n += 1) expect((await login(`other-${n}`)).status).toBe(401);
    expect((await login('one-more')).refusal.reason).toBe('RATE_LIMITED');
    const token = (form: string) =>
      service.anonymous.post('/auth/token', form, { 'content-type': 'application/x-www-form-urlencoded' });
    const refused = await token('grant_type=password&username=a&password=b');
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      429,
      expect.objectContaining({ error: 'temporarily_unavailable' }),
    ]);
    // Refreshes are counted apart, and so they are through both doors.
    expect((await token('grant_type=refresh_token&refresh_token=x')).status).toBe(400);
    for (let n = 0; n < 11; n += 1)
      expect((await service.anonymous.post('/auth/refresh', { refreshToken: 'x' })).status).toBe(401);
    expect((await token('grant_type=refresh_token&refresh_token=x')).status).toBe(429);
  });

  it('rate limits leave probes alone', async () => {
    for (let n = 0; n < 20; n += 1) expect((await service.anonymous.get('/health/live')).status).toBe(200);
  });

  it('rate limits begin anew when the minute is over', async () => {
    const api = service.as({ username: 'patient' });
    for (let n = 0; n < 10; n += 1) await api.get('/system/dept-api/1');
    expect((await api.get('/system/dept-api/1')).status).toBe(429);
    const later = jumpAhead(61_000);
    expect((await api.get('/system/dept-api/1')).status).toBe(404);
    later.mockRestore();
  });

  it('rate limits go on per replica when Redis was never there', async () => {
    const node = await ServiceUnderTest.on(service.database, { ...LIMITS, REDIS_URL: 'redis://127.0.0.1:1' });
    const api = node.as({ username: 'unlucky' });
    const seen = [];
    for (let n = 0; n < 12; n += 1) seen.push((await api.get('/system/dept-api/1')).status);
    expect(seen).toEqual([...Array.from({ length: 10 }, () => 404), 429, 429]);
    await node.leave();
  });

  if (redisIsInstalled) {
    it('rate limits are shared through Redis, and neither open nor close when it fails', async () => {
      const redis = await startRedis();
      const env = { ...LIMITS, REDIS_URL: redis.url };
      const nodes = [
        await ServiceUnderTest.on(service.database, env),
        await ServiceUnderTest.on(service.database, env),
      ];
      const ask = (n: number, username: string) => nodes[n % 2]!.as({ username }).get('/system/dept-api/1');
      const statuses = async (username: string, times: number) => {
        const seen = [];
        for (let n = 0; n < times; n += 1) seen.push((await ask(n, username)).status);
        return seen;
      };
      let strangers = 0;
      /** Whether a request to one node shows in what is left at the other. */
      const shared = async (): Promise<boolean> => {
        const username = `stranger-${(strangers += 1)}`;
        const left = [await ask(0, username), await ask(1, username)].map(
          ({ headers }) => headers['ratelimit-remaining'],
        );
        return left.join() === '9,8';
      };
      await until(shared);
      expect((await statuses('shared', 12)).filter((status) => status === 429)).toHaveLength(2);
      await redis.end('SIGKILL');
      await until(async () => !(await shared()));
      // Each node counts alone: ten of each are let in, and not one more.
      expect((await statuses('alone', 24)).filter((status) => status === 429)).toHaveLength(4);
      await redis.restart();
      await until(shared);
      expect((await statuses('again', 12)).filter((status) => status === 429)).toHaveLength(2);
      await Promise.all(nodes.map((node) => node.leave()));
      await redis.end('SIGKILL');
    });
  } else if (process.env.REQUIRE_REDIS === '1') {
    throw new Error('redis-server is not installed.');
  }
});
