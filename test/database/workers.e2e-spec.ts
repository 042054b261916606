import { ApiClient, aTenant, aUser, mintToken, type Answer } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { readExposition } from '../support/exposition';
import { freePort } from '../support/free-port';
import { emptyDatabase, onServer } from '../support/test-database';
import { until } from '../support/until';
import type { ThrowAwayDatabase } from '../../src/server/testing';

const DEPTS = '/system/dept-api';
const USERS = '/system/user-api';
const KEYS = '/system/key-api';
const PASSWORD = 'a-long-password';
/** For less than this long a worker may remember an account, a key or a tenant. */
const REMEMBERED_MS = 4500;

if (!onServer) {
  describe('workers on a SQLite file', () => {
    it('WORKERS=2 on a SQLite file stops the start, which says why', async () => {
      const { url: DATABASE_URL, folder, drop } = await emptyDatabase();
      const service = ChildService.spawn({ DATABASE_URL, WORKERS: '2', PORT: '0' }, folder);
      expect(await service.ended()).toBe(1);
      expect(service.printed).toContain('WORKERS: must be 1 with SQLite: a SQLite file has one writer');
      await drop();
    });
  });
} else {
  describe('a service with two workers', withTwoWorkers);
}

function withTwoWorkers(): void {
  let database: ThrowAwayDatabase;
  let service: ChildService;
  let metrics: ApiClient;
  /** One client for each worker. */
  let left: ApiClient;
  let right: ApiClient;

  beforeAll(async () => {
    database = await emptyDatabase();
    const METRICS_PORT = String(await freePort());
    service = await ChildService.start(database, {
      ...{ WORKERS: '2', METRICS_PORT, LOG_LEVEL: 'info' },
      ...{ RATE_LIMIT: 'on', RATE_LIMIT_USER: '1000', RATE_LIMIT_LOGIN_ACCOUNT: '3' },
    });
    metrics = new ApiClient(`http://127.0.0.1:${METRICS_PORT}`);
    await until(() => service.printed.includes('Database'));
    [left, right] = await clientOfEach();
  });
  afterAll(async () => {
    for (const client of [left, right, metrics]) client.close();
    await database.drop();
  });

  const lines = () =>
    service.printed
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  /** The number of the worker that a client speaks with. */
  async function workerOf(client: ApiClient): Promise<unknown> {
    const { requestId } = (await client.get('/auth/me')).refusal;
    const line = () => lines().find((each) => each.requestId === requestId);
    await until(() => line() !== undefined);
    return line()?.worker;
  }

  async function clientOfEach(): Promise<[ApiClient, ApiClient]> {
    const clients = new Map<unknown, ApiClient>();
    while (clients.size < 2) {
      const client = service.onOneConnection();
      const worker = await workerOf(client);
      if (clients.has(worker)) client.close();
      else clients.set(worker, client);
    }
    return [...clients.values()] as [ApiClient, ApiClient];
  }

  const scrape = async () => readExposition((await metrics.get('/metrics')).text);

  it('a service with two workers migrates once, tells once that it has started, and each line of its log tells the worker', () => {
    expect(service.printed.match(/^Tenantry \d|Workers {4}2$|Migrations/gm)).toHaveLength(3);
    expect(service.workers).toHaveLength(2);
    const numbers = new Set(lines().map(({ worker }) => worker));
    expect([...numbers].sort()).toEqual([1, 2]);
  });

  it('requests and sign-ins are counted together by two workers', async () => {
    const token = mintToken({ username: 'busy' });
    const remaining: number[] = [];
    for (const client of [left, right, right, left]) {
      const { headers } = await client.as(token).get(`${DEPTS}/1`);
      remaining.push(Number(headers['ratelimit-remaining']));
    }
    expect(remaining).toEqual([999, 998, 997, 996]);
    const login = { username: 'victim', password: 'wrong-password' };
    const statuses: number[] = [];
    for (const client of [left, right, left, right, left])
      statuses.push((await client.post('/auth/login', login)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });

  it('one scrape has the sums of both workers', async () => {
    const name = `tenantry_http_requests_total{method="GET",route="${DEPTS}/:id",status="404",reason="DEPT_NOT_FOUND"}`;
    const before = (await scrape()).get(name) ?? 0;
    const api = [left, right].map((client) => client.as(mintToken()));
    for (let n = 0; n < 6; n += 1) await api[n % 2]!.get(`${DEPTS}/404`);
    const after = await scrape();
    expect(after.get(name)).toBe(before + 6);
    expect(after.get('tenantry_workers')).toBe(2);
    expect(after.get('tenantry_database_connections_limit')).toBe(20);
    const built = [...after].filter(([key]) => key.startsWith('tenantry_build_info'));
    expect(built.map(([, value]) => value)).toEqual([1]);
  });

  /** An account and a key that both workers have just let in, and remember. */
  async function aSubject() {
    const root = left.as(mintToken({ roles: ['superadmin'] }));
    const tenant = await aTenant(root);
    const admin = left.as(mintToken({ tenantId: tenant.tenantId }));
    const username = `user-${Math.random()}`;
    const userId = await aUser(admin, { username, password: PASSWORD });
    const login = { tenantId: tenant.tenantId, username, password: PASSWORD };
    const signedIn = await left.post('/auth/login', login);
    const { accessToken } = signedIn.body.data as { accessToken: string };
    const key = await admin.post(KEYS, { name: 'k', permissions: ['dept:read'] });
    const { id: keyId, secret } = key.body.data as { id: number; secret: string };
    const [here, there, keyThere] = [left.as(accessToken), right.as(accessToken), right.as(secret)];
    return { root, tenant, admin, userId, username, keyId, here, there, keyThere };
  }

  type Subject = Awaited<ReturnType<typeof aSubject>>;
  const revocations: Readonly<
    Record<string, [(subject: Subject) => Promise<Answer>, 'there' | 'keyThere', number]>
  > = {
    'a sign-out': [({ here }) => here.post('/auth/logout', {}), 'there', 401],
    'a disabled account': [
      ({ admin, userId, username }) => admin.put(USERS, { userId, username, status: '1' }),
      'there',
      401,
    ],
    'a deleted key': [({ admin, keyId }) => admin.delete(`${KEYS}/${keyId}`), 'keyThere', 401],
    'a disabled tenant': [
      ({ root, tenant }) => root.patch(`/system/tenant-api/${tenant.id}`, { status: '1' }),
      'there',
      403,
    ],
  };

  it.each(Object.entries(revocations))(
    'what one worker revokes is refused by the other at once: %s',
    async (_, [revoke, caller, status]) => {
      // Again where the machine was so slow that the other worker would have looked anew by itself.
      await until(async () => {
        const subject = await aSubject();
        const rememberedAt = performance.now();
        expect((await subject[caller].get('/auth/me')).status).toBe(200);
        expect((await revoke(subject)).status).toBe(200);
        await until(async () => (await subject[caller].get('/auth/me')).status === status);
        return performance.now() - rememberedAt < REMEMBERED_MS;
      });
    },
  );

  it('a stop of a service with two workers ends both, tells of it once, and exits with 0', async () => {
    const workers = service.workers;
    expect(await service.stop()).toBe(0);
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    const told = lines().filter(({ msg }) => msg === 'stopping' || msg === 'stopped');
    expect(told.map(({ msg, worker }) => [msg, worker])).toEqual([
      ['stopping', undefined],
      ['stopped', undefined],
    ]);
  });
}
