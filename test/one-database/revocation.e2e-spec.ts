import { type Answer, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { HeldTime } from '../support/hand-clock';
import { redisIsInstalled, startRedis } from '../support/redis-server';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';
import type { ServerProcess } from '../support/server-process';

const PASSWORD = 'a-long-password';
const USERS = '/system/user-api';
const KEYS = '/system/key-api';
const FRESH_MS = 5000;

interface Subject {
  readonly tenant: { readonly id: string; readonly tenantId: string; readonly tenantName: string };
  readonly admin: ApiClient;
  readonly userId: number;
  readonly username: string;
  /** With the tokens of a sign-in at the first replica. */
  readonly here: ApiClient;
  /** The same tokens at the other. */
  readonly there: ApiClient;
  /** With a key, at the other. */
  readonly keyId: number;
  readonly keyThere: ApiClient;
}

if (!redisIsInstalled && process.env.REQUIRE_REDIS === '1') throw new Error('redis-server is not installed.');

describe('a Redis that was never there', () => {
  it('a Redis that was never there stops nobody, and is told of once', async () => {
    const service = await ServiceUnderTest.start({ REDIS_URL: 'redis://127.0.0.1:1' });
    const told = () => service.log.filter((line) => line.includes('within 5 s'));
    await until(() => told().length > 0);
    await aUser(service.as());
    expect(told()).toHaveLength(1);
    await service.stop();
  });
});

const withRedis = () => {
  let redis: ServerProcess;
  let first: ServiceUnderTest;
  let second: ServiceUnderTest;
  let time: HeldTime;

  beforeAll(async () => {
    // What a replica remembers stays fresh while this stands still: only a message can make it forget.
    time = new HeldTime();
    redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    first = await ServiceUnderTest.start(env);
    second = await ServiceUnderTest.on(first.database, env);
    await untilConnected();
  });
  afterAll(async () => {
    time.release();
    await second.leave();
    await first.stop();
    await redis.end('SIGKILL');
  });

  const root = () => first.as({ roles: ['superadmin'] });

  /** An account that both replicas have just let in, and remember. */
  async function aSubject(): Promise<Subject> {
    const tenant = await aTenant(root());
    const admin = first.as({ tenantId: tenant.tenantId });
    const username = `user-${Math.random()}`;
    const userId = await aUser(admin, { username, password: PASSWORD });
    const login = { tenantId: tenant.tenantId, username, password: PASSWORD };
    const answer = await first.anonymous.post('/auth/login', login);
    const { accessToken } = answer.body.data as { accessToken: string };
    const [here, there] = [first.anonymous.as(accessToken), second.anonymous.as(accessToken)];
    const key = await admin.post(KEYS, { name: 'k', permissions: ['dept:read'] });
    const { id: keyId, secret } = key.body.data as { id: number; secret: string };
    const keyThere = second.anonymous.as(secret);
    for (const api of [here, there, keyThere]) expect((await api.get('/auth/me')).status).toBe(200);
    return { tenant, admin, userId, username, here, there, keyId, keyThere };
  }

  async function refusalAt(there: ApiClient): Promise<number> {
    let status = 200;
    await until(async () => (status = (await there.get('/auth/me')).status) !== 200);
    return status;
  }

  /** What is said before both are connected is lost, so it is said until it is heard. */
  async function untilConnected(): Promise<void> {
    const { tenant, there } = await aSubject();
    await until(async () => {
      await root().patch(`/system/tenant-api/${tenant.id}`, { status: '1', companyName: `${Math.random()}` });
      return (await there.get('/auth/me')).status === 403;
    });
  }

  const revocations: Readonly<Record<string, [(subject: Subject) => Promise<Answer>, number]>> = {
    'a sign-out': [({ here }) => here.post('/auth/logout', {}), 401],
    'a password reset': [
      ({ userId, admin }) => admin.put(`${USERS}/password`, { userId, newPassword: 'another-password' }),
      401,
    ],
    'a disabled account': [
      ({ userId, username, admin }) => admin.put(USERS, { userId, username, status: '1' }),
      401,
    ],
    'a deleted account': [({ userId, admin }) => admin.delete(`${USERS}/${userId}`), 401],
    'a disabled tenant': [
      ({ tenant }) => root().patch(`/system/tenant-api/${tenant.id}`, { status: '1' }),
      403,
    ],
  };

  it.each(Object.entries(revocations))(
    'what one replica revokes is refused by the other at once: %s',
    async (_, [revoke, status]) => {
      const subject = await aSubject();
      expect((await revoke(subject)).status).toBe(200);
      expect(await refusalAt(subject.there)).toBe(status);
    },
  );

  it.each(['a disabled key', 'a deleted key'])(
    'what one replica revokes is refused by the other at once: %s',
    async (name) => {
      const { admin, keyId, keyThere } = await aSubject();
      const path = `${KEYS}/${keyId}`;
      const revoked = name === 'a deleted key' ? admin.delete(path) : admin.patch(path, { status: '1' });
      expect((await revoked).status).toBe(200);
      expect(await refusalAt(keyThere)).toBe(401);
    },
  );

  it('what one replica revokes is refused within five seconds while Redis is away, and at once when it is back', async () => {
    const [away, disabled] = [await aSubject(), await aSubject()];
    await redis.end('SIGKILL');
    for (const { there } of [away, disabled]) expect((await there.get('/auth/me')).status).toBe(200);
    await away.here.post('/auth/logout', {});
    await away.admin.delete(`${KEYS}/${away.keyId}`);
    await revocations['a disabled tenant']![0](disabled);
    const callers = [away.there, away.keyThere, disabled.there];
    const seen = () => Promise.all(callers.map(async (api) => (await api.get('/auth/me')).status));
    expect(await seen()).toEqual([200, 200, 200]);
    time.pass(FRESH_MS);
    expect(await seen()).toEqual([401, 401, 403]);
    // Nobody heard of this one; who listens again forgets all that it remembered meanwhile.
    const back = await aSubject();
    await back.here.post('/auth/logout', {});
    await redis.restart();
    expect(await refusalAt(back.there)).toBe(401);
    await untilConnected();
    const again = await aSubject();
    await again.here.post('/auth/logout', {});
    expect(await refusalAt(again.there)).toBe(401);
  });
};

if (redisIsInstalled) describe('what one replica revokes', withRedis);
