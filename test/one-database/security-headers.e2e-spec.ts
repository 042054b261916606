import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { exchange } from '../support/wire';

const PATH = '/system/dept-api';
const PAGE = 'https://app.example';

const ALWAYS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

describe('what answers tell browsers', () => {
  const service = ServiceUnderTest.use({ CORS_ORIGINS: `https://other.example,${PAGE}` });
  let api: ApiClient;
  let deptId: number;

  beforeAll(async () => {
    api = service.as();
    deptId = await aDept(api);
  });

  function expectAlways({ headers }: Pick<Answer, 'headers'>, cacheControl: string): void {
    expect(headers).toMatchObject({ ...ALWAYS, 'cache-control': cacheControl });
    expect(headers).not.toHaveProperty('strict-transport-security');
    expect(headers).not.toHaveProperty('x-powered-by');
  }

  it('security headers are on every answer, and let only reads be kept, under their tags', async () => {
    const read = await api.get(`${PATH}/${deptId}`);
    expectAlways(read, 'private, no-cache');
    const unchanged = await api.get(`${PATH}/${deptId}`, { 'if-none-match': read.headers.etag! });
    expect(unchanged.status).toBe(304);
    expectAlways(unchanged, 'private, no-cache');
    expectAlways(await api.get(PATH), 'private, no-cache');
    expectAlways(await api.get(`${PATH}/export`), 'no-store');
    expectAlways(await api.post(PATH, {}), 'no-store');
    expectAlways(await api.get(`${PATH}/999999999`), 'no-store');
    expectAlways(await service.anonymous.get(`${PATH}/1`), 'no-store');
    expectAlways(await api.post(PATH, '{'), 'no-store');
    expectAlways(await api.get('/nowhere'), 'no-store');
    expectAlways(await service.anonymous.get('/health/live'), 'no-store');
    const credentials = { username: 'admin', password: 'admin-password' };
    expectAlways(await service.anonymous.post('/auth/login', credentials), 'no-store');
  });

  it('security headers are on answers to what never became a request', async () => {
    const { head } = await exchange(service.anonymous.baseUrl, 'NONSENSE\r\n\r\n');
    const lines = head.split('\r\n').slice(1);
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(': ', 1)[0]!.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
    );
    expectAlways({ headers }, 'no-store');
  });

  it('security headers let Swagger UI be a page that loads only from here', async () => {
    for (const path of ['/docs', '/docs/', '/docs/swagger-ui-bundle.js', '/docs/openapi.json']) {
      const { status, headers } = await service.anonymous.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers).toMatchObject({
        ...ALWAYS,
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'self'; /,
        ) as string,
        'cache-control': 'no-cache',
      });
    }
  });

  it('security headers insist on TLS where a proxy says that there is some', async () => {
    for (const proto of ['https', 'https, http']) {
      const { headers } = await api.get(`${PATH}/${deptId}`, { 'x-forwarded-proto': proto });
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
    }
    for (const proto of ['http', 'http, https', 'httpsx'])
      expectAlways(await api.get('/health/live', { 'x-forwarded-proto': proto }), 'no-store');
  });

  describe('CORS', () => {
    const asks = { origin: PAGE, 'access-control-request-method': 'PUT' };

    it('pages of an allowed origin may ask in advance, and are told what they may send', async () => {
      const { status, headers, text } = await service.anonymous.send('OPTIONS', PATH, undefined, asks);
      expect([status, text]).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
        'access-control-allow-headers':
          'Authorization,Content-Type,If-Match,If-None-Match,Idempotency-Key,Prefer,X-Request-Id',
        'access-control-max-age': '600',
        vary: 'Origin',
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    });

    it('pages of an allowed origin may read answers and refusals, with the headers that are worth reading', async () => {
      for (const path of [`${PATH}/${deptId}`, `${PATH}/999999999`]) {
        const { headers } = await api.get(path, { origin: PAGE });
        expect(headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
        const exposed = String(headers['access-control-expose-headers']).split(',');
        const worth = 'ETag Location Retry-After X-Change-Cursor X-Ignored-Fields X-Request-Id'.split(' ');
        expect(exposed).toEqual(expect.arrayContaining(worth));
      }
    });

    it.each(['https://evil.example', 'https://app.example.evil', 'http://app.example', 'null'])(
      'pages of %s may not read answers',
      async (origin) => {
        const preflight = await service.anonymous.send('OPTIONS', PATH, undefined, { ...asks, origin });
        for (const { headers } of [preflight, await api.get(`${PATH}/${deptId}`, { origin })]) {
          expect(headers).not.toHaveProperty('access-control-allow-origin');
          expect(headers.vary).toBe('Origin');
        }
      },
    );

    it('pages of other origins may not read answers unless somebody has said so', async () => {
      const closed = await ServiceUnderTest.on(service.database);
      const preflight = await closed.anonymous.send('OPTIONS', PATH, undefined, asks);
      expect([preflight.status, preflight.headers.vary]).toEqual([404, undefined]);
      const { headers } = await closed.as().get(`${PATH}/${deptId}`, { origin: PAGE });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      await closed.leave();
    });
  });
});
