import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const LIMITS = { RATE_LIMIT: 'on', RATE_LIMIT_LOGIN_ADDRESS: '4', RATE_LIMIT_LOGIN_ACCOUNT: '2' };
const MADE_UP = `${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}.made-up`;

describe('the address of a client', () => {
  let service: ServiceUnderTest;

  const start = async (env: Record<string, string>) => {
    service = await ServiceUnderTest.start({ ...LIMITS, ...env });
  };
  afterEach(() => service.stop());

  const from = (forwarded?: string) =>
    forwarded === undefined ? service.anonymous : service.anonymous.with({ 'x-forwarded-for': forwarded });
  const login = async (username: string, forwarded?: string, password = 'wrong-password') =>
    (await from(forwarded).post('/auth/login', { username, password })).status;
  const signIn = (forwarded?: string) => login('admin', forwarded, 'admin-password');
  const refresh = async (refreshToken: string, forwarded?: string) =>
    (await from(forwarded).post('/auth/refresh', { refreshToken })).status;
  /** The addresses in the log, once there are as many lines as that. */
  const logged = async (lines: number): Promise<unknown[]> => {
    const found = () =>
      service.log
        .map((line) => JSON.parse(line) as { method?: string; address?: unknown })
        .filter(({ method }) => method !== undefined);
    await until(() => found().length >= lines);
    return found().map(({ address }) => address);
  };

  it('the address of a client is that of the connection, whatever X-Forwarded-For says, unless a proxy is trusted', async () => {
    await start({});
    const seen = [];
    for (let n = 0; n < 5; n += 1) seen.push(await login(`user-${n}`, `203.0.113.${n}`));
    expect(seen).toEqual([401, 401, 401, 401, 429]);
    expect(await logged(5)).toEqual(Array.from({ length: 5 }, () => '127.0.0.1'));
  });

  it('the address of a client is the one that a trusted proxy names: one client uses up nothing of the others', async () => {
    await start({ TRUST_PROXY: '1' });
    for (let n = 0; n < 5; n += 1) await login(`user-${n}`, '203.0.113.1');
    expect(await login('user-6', '203.0.113.1')).toBe(429);
    expect(await signIn('203.0.113.2')).toBe(200);
    // The proxy appends the address that it sees: what the client wrote before it does not count.
    expect(await login('user-7', '203.0.113.9, 203.0.113.1')).toBe(429);
    expect((await logged(8)).slice(-2)).toEqual(['203.0.113.2', '203.0.113.1']);
  });

  it('the address of a client may come through proxies that are told by their addresses', async () => {
    await start({ TRUST_PROXY: 'loopback, 10.0.0.0/8' });
    for (let n = 0; n < 4; n += 1) await login(`user-${n}`, '203.0.113.1, 10.1.2.3');
    expect(await login('user-5', '203.0.113.1, 10.9.9.9')).toBe(429);
    expect(await login('user-6', '203.0.113.2, 10.1.2.3')).toBe(401);
    expect((await logged(6)).at(-1)).toBe('203.0.113.2');
  });

  it('the address of a client is that of the connection when the proxy names none', async () => {
    await start({ TRUST_PROXY: '1' });
    for (const nonsense of ["' OR 1=1", 'unknown', 'x'.repeat(500)]) await login('somebody', nonsense);
    expect(await logged(3)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  });

  it('an IPv6 network counts as one client', async () => {
    await start({ TRUST_PROXY: '1' });
    const seen = [];
    for (let n = 0; n < 5; n += 1) seen.push(await login(`user-${n}`, `2001:db8:1:2:${n}::1`));
    expect(seen).toEqual([401, 401, 401, 401, 429]);
    expect(await login('user-6', '2001:db8:1:3::1')).toBe(401);
    expect(await login('user-7', '::ffff:203.0.113.7')).toBe(401);
  });

  it('refreshes of one session are limited, whoever else is at that address', async () => {
    await start({});
    const seen = [];
    for (let n = 0; n < 3; n += 1) seen.push(await refresh(MADE_UP));
    expect(seen).toEqual([401, 401, 429]);
    expect(await refresh(MADE_UP.replace('0', '1'))).toBe(401);
  });

  it('tries for one account are limited only where they come from, however the name is written', async () => {
    await start({ TRUST_PROXY: '1' });
    const seen = [];
    for (const name of ['admin', 'ａｄｍｉｎ', 'admin']) seen.push(await login(name, '203.0.113.1'));
    expect(seen).toEqual([401, 401, 429]);
    expect(await signIn('203.0.113.2')).toBe(200);
  });
});
