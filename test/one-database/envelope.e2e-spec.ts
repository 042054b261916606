import { aDept, type Answer, mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { connectTo, exchange } from '../support/wire';

const PATH = '/system/dept-api';
const JSON_TYPE = { 'content-type': 'application/json' };
const typed = (type: string) => ({ 'content-type': type });
const encoded = (encoding: string) => ({ ...JSON_TYPE, 'content-encoding': encoding });
const nested = (depth: number) => `{"deptName":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const values = (count: number) => `{"unknown":[${'0,'.repeat(count - 1)}0]}`;

/** Bodies of a POST, with the status and the reason of their refusal. */
const BODIES: [string, string | Buffer | undefined, Record<string, string>, number, string][] = [
  ['broken JSON', '{"deptName":', JSON_TYPE, 400, 'MALFORMED_REQUEST'],
  ['a JSON scalar', '"text"', JSON_TYPE, 400, 'MALFORMED_REQUEST'],
  ['a JSON array', '[]', JSON_TYPE, 400, 'INVALID_INPUT'],
  ['no body', undefined, {}, 400, 'INVALID_INPUT'],
  ['an empty body', '', JSON_TYPE, 400, 'INVALID_INPUT'],
  ['33 levels', nested(32), JSON_TYPE, 400, 'MALFORMED_REQUEST'],
  ['20,001 commas', values(20_002), JSON_TYPE, 400, 'MALFORMED_REQUEST'],
  ['100,000 brackets', nested(100_000), JSON_TYPE, 400, 'MALFORMED_REQUEST'],
  ['no UTF-8', Buffer.from('{"deptName":"\xff"}', 'latin1'), JSON_TYPE, 400, 'MALFORMED_REQUEST'],
  ['300 KB', JSON.stringify({ x: 'a'.repeat(300_000) }), JSON_TYPE, 413, 'BODY_TOO_LARGE'],
  ['another type', 'a=1', typed('text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['another charset', '{}', typed('application/json; charset=gbk'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['UTF-16', '{}', typed('application/json; charset=utf-16le'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['UTF-7', '{}', typed('application/json;charset="utf-7"'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['another encoding', '{}', encoded('zip'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a lie about compression', '{}', encoded('gzip'), 400, 'MALFORMED_REQUEST'],
];

describe('every answer', () => {
  const service = ServiceUnderTest.use();

  function expectRefusal(answer: Answer, status: number, reason: string): void {
    const type = answer.headers['content-type'];
    expect([answer.status, type]).toEqual([status, 'application/json; charset=utf-8']);
    expect(Object.keys(answer.body)).toEqual(['code', 'msg', 'data']);
    expect(answer.body).toMatchObject({ code: status, data: { reason } });
    expect(answer.refusal.requestId).toBe(answer.headers['x-request-id']);
  }

  it('bodies of many levels and values are taken', async () => {
    const text = `{"unknown":[${JSON.stringify('"\\,[{'.repeat(9000))},${'['.repeat(30)}${']'.repeat(30)}]}`;
    for (const body of [values(20_001), text]) expect((await service.as().post(PATH, body)).status).toBe(200);
  });

  it.each(BODIES)(
    'the answer to a body that is %s is the envelope',
    async (_, body, headers, status, reason) => {
      expectRefusal(await service.as().send('POST', PATH, body, headers), status, reason);
    },
  );

  it.each([
    ['an unknown route', 'GET', '/nowhere', {}, 404, 'ROUTE_NOT_FOUND'],
    ['an unknown method', 'PROPFIND', PATH, {}, 404, 'ROUTE_NOT_FOUND'],
    ['OPTIONS', 'OPTIONS', PATH, {}, 404, 'ROUTE_NOT_FOUND'],
    ['bad percent-encoding', 'GET', `${PATH}/%E0%A4%A`, {}, 400, 'MALFORMED_REQUEST'],
    ['20 KB of headers', 'GET', `${PATH}/1`, { 'x-long': 'a'.repeat(20_000) }, 431, 'HEADERS_TOO_LARGE'],
    ['an unknown expectation', 'GET', `${PATH}/1`, { expect: 'wonders' }, 417, 'EXPECTATION_FAILED'],
    ['a path in other letters', 'POST', '/SYSTEM/Dept-Api', {}, 404, 'ROUTE_NOT_FOUND'],
    [
      'a range of a file',
      'GET',
      '/docs/swagger-ui.css',
      { range: 'bytes=9999999-' },
      400,
      'MALFORMED_REQUEST',
    ],
  ])(
    'the answer to %s is the envelope',
    async (_, method, path, headers: Record<string, string>, status, reason) => {
      expectRefusal(await service.as().send(method, path, undefined, headers), status, reason);
    },
  );

  it.each([
    ['what is no HTTP at all', 'NONSENSE\r\n\r\n'],
    ['a request without Host', `GET ${PATH}/1 HTTP/1.1\r\n\r\n`],
    ['2,500 headers', `GET ${PATH}/1 HTTP/1.1\r\n${'a: b\r\n'.repeat(2500)}Host: x\r\n\r\n`],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target that is no path', 'GET x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('the answer to %s is the envelope', async (_, bytes) => {
    const { status, body } = await exchange(service.anonymous.baseUrl, bytes);
    expect([400, 404, 431]).toContain(status);
    expect(Object.keys(JSON.parse(body) as object)).toEqual(['code', 'msg', 'data']);
  });

  it('HEAD with 20 KB of headers is refused without a body, which a client would take for the next answer', async () => {
    const { socket } = connectTo(service.anonymous.baseUrl);
    let told = '';
    socket.on('data', (chunk) => (told += chunk.toString()));
    socket.end(`HEAD ${PATH}/1 HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(told).toMatch(/^HTTP\/1.1 431 /);
    expect(told.split('\r\n\r\n')).toEqual([expect.anything(), '']);
  });

  it('a whole address is answered as its path, and Location stays a path', async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${mintToken()}\r\nContent-Type: application/json\r\n`;
    const line = `POST http://proxied.example${PATH}/?x=1 HTTP/1.1`;
    const bytes = `${line}\r\n${head}Content-Length: 2\r\n\r\n{}`;
    const answer = await exchange(service.anonymous.baseUrl, bytes);
    expect(answer.status).toBe(200);
    expect(answer.head).toMatch(/\r\nLocation: \/system\/dept-api\/\d+\r\n/);
  });

  it('more than 200 headers are refused, and up to there a condition among them counts', async () => {
    const deptId = await aDept(service.as());
    const fillers = (count: number) =>
      Array.from({ length: count }, (_, n) => `X-Filler-${n}: x\r\n`).join('');
    const patch = (count: number) => {
      const needed = `Host: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nAuthorization: Bearer ${mintToken()}\r\n`;
      const head = `PATCH ${PATH}/${deptId} HTTP/1.1\r\n${needed}${fillers(count - 5)}If-Match: "999"\r\n`;
      return exchange(service.anonymous.baseUrl, `${head}\r\n{}`);
    };
    expect([(await patch(200)).status, (await patch(201)).status]).toEqual([412, 431]);
  });

  it('an expectation is refused in the language asked for, under the id that was sent', async () => {
    const headers = { expect: 'x', 'accept-language': 'en', 'x-request-id': 'mine' };
    const answer = await service.as().get(`${PATH}/1`, headers);
    expect(answer.body.msg).toBe('The Expect header is not supported');
    expect(answer.refusal.requestId).toBe('mine');
  });

  it('an answer carries the request id that was sent, if it is harmless', async () => {
    const echoed = async (sent: string) =>
      (await service.as().get(`${PATH}/1`, { 'x-request-id': sent })).headers['x-request-id'];
    expect(await echoed('abc-DEF_1.2')).toBe('abc-DEF_1.2');
    for (const sent of ['a b', 'a"b', '<x>', 'a'.repeat(65), ''])
      expect(await echoed(sent)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });

  it('answers speak Chinese unless English is preferred', async () => {
    const ask = (path: string, language?: string) =>
      service.as().get(`${PATH}/${path}`, language === undefined ? {} : { 'accept-language': language });
    for (const language of [undefined, '*', 'zh', 'zh-CN,en;q=0.5', 'fr', 'x'.repeat(1000)])
      expect((await ask('999999', language)).body.msg).toBe('部门不存在');
    for (const language of ['en', 'en-US,en;q=0.9', 'fr, en;q=0.8, zh;q=0.1'])
      expect((await ask('999999', language)).body.msg).toBe('There is no such department');
    expect((await ask('x', 'en')).refusal.fields).toEqual([{ field: 'id', message: 'must be a decimal id' }]);
    expect((await ask(String(await aDept(service.as())), 'en')).body.msg).toBe('操作成功');
  });

  it('a request for tokens that cannot be read is answered as RFC 6749 says', async () => {
    const token = (query: string, body: string, type = 'x-www-form-urlencoded') =>
      service.anonymous.post(`/auth/token${query}`, body, typed(`application/${type}`));
    for (const [answer, status] of [
      [await token('', 'grant_type=password', 'xml'), 415],
      [await token('', `grant_type=${'x'.repeat(20_000)}`), 413],
      [await token('', '{', 'json'), 400],
      [await token('?%', 'grant_type=password'), 400],
    ] as const) {
      expect(answer.status).toBe(status);
      const told = JSON.parse(answer.text) as Record<string, string>;
      expect([Object.keys(told), told.error]).toEqual([['error', 'error_description'], 'invalid_request']);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });
});

describe('HTTP_STATUS_MODE=always-200', () => {
  const service = ServiceUnderTest.use({ HTTP_STATUS_MODE: 'always-200' });

  it('answers HTTP 200 with the real number in code, wherever the refusal comes from', async () => {
    const api = service.as();
    for (const [answer, code] of [
      [await service.anonymous.get(`${PATH}/1`), 401],
      [await api.get('/nowhere'), 404],
      [await api.get(`${PATH}/999`), 404],
      [await api.get(`${PATH}/x`), 400],
      [await api.post(PATH, '{'), 400],
      [await api.get(`${PATH}/1`, { 'x-long': 'a'.repeat(20_000) }), 431],
    ] as const) {
      expect([answer.status, answer.body.code]).toEqual([200, code]);
    }
  });
});
