import { connect } from 'node:net';
import { DeptService } from '../../src/dept/dept.service';
import { aDept, type Answer, mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

describe('every answer', () => {
  const service = ServiceUnderTest.use();

  afterEach(() => jest.restoreAllMocks());

  function expectRefusal(answer: Answer, status: number, reason: string): void {
    expect([answer.status, answer.headers['content-type']]).toEqual([
      status,
      'application/json; charset=utf-8',
    ]);
    expect(Object.keys(answer.body)).toEqual(['code', 'msg', 'data']);
    expect(answer.body).toMatchObject({ code: status, data: { reason } });
    expect(answer.refusal.requestId).toBe(answer.headers['x-request-id']);
  }

  const json = { 'content-type': 'application/json' };
  const nested = (depth: number) => `{"deptName":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  const values = (count: number) => `{"unknown":[${'0,'.repeat(count - 1)}0]}`;

  it('takes bodies of many levels and values', async () => {
    const text = `{"unknown":[${JSON.stringify('"\\,[{'.repeat(9000))},${'['.repeat(30)}${']'.repeat(30)}]}`;
    for (const body of [values(20_001), text]) expect((await service.as().post(PATH, body)).status).toBe(200);
  });

  it.each([
    ['an unknown route', 'GET', '/nowhere', undefined, {}, 404, 'ROUTE_NOT_FOUND'],
    ['an unknown method', 'PROPFIND', PATH, '{}', json, 404, 'ROUTE_NOT_FOUND'],
    ['OPTIONS', 'OPTIONS', PATH, undefined, {}, 404, 'ROUTE_NOT_FOUND'],
    ['broken JSON', 'POST', PATH, '{"deptName":', json, 400, 'MALFORMED_REQUEST'],
    ['a JSON scalar', 'POST', PATH, '"text"', json, 400, 'MALFORMED_REQUEST'],
    ['a JSON array', 'POST', PATH, '[]', json, 400, 'INVALID_INPUT'],
    ['no body', 'POST', PATH, undefined, {}, 400, 'INVALID_INPUT'],
    ['an empty body', 'POST', PATH, '', json, 400, 'INVALID_INPUT'],
    ['33 levels', 'POST', PATH, nested(32), json, 400, 'MALFORMED_REQUEST'],
    ['20,001 commas', 'POST', PATH, values(20_002), json, 400, 'MALFORMED_REQUEST'],
    ['100,000 brackets', 'POST', PATH, nested(100_000), json, 400, 'MALFORMED_REQUEST'],
    [
      'bytes that are no UTF-8',
      'POST',
      PATH,
      Buffer.from('{"deptName":"\xff"}', 'latin1'),
      json,
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'a body of 300 KB',
      'POST',
      PATH,
      JSON.stringify({ x: 'a'.repeat(300_000) }),
      json,
      413,
      'BODY_TOO_LARGE',
    ],
    [
      'another content type',
      'POST',
      PATH,
      'a=1',
      { 'content-type': 'text/plain' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'another charset',
      'POST',
      PATH,
      '{}',
      { 'content-type': 'application/json; charset=gbk' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'UTF-16',
      'POST',
      PATH,
      '{}',
      { 'content-type': 'application/json; charset=utf-16le' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'UTF-7',
      'POST',
      PATH,
      '{}',
      { 'content-type': 'application/json;charset="utf-7"' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'another content encoding',
      'POST',
      PATH,
      '{}',
      { ...json, 'content-encoding': 'zip' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a lie about compression',
      'POST',
      PATH,
      '{}',
      { ...json, 'content-encoding': 'gzip' },
      400,
      'MALFORMED_REQUEST',
    ],
    ['bad percent-encoding', 'GET', `${PATH}/%E0%A4%A`, undefined, {}, 400, 'MALFORMED_REQUEST'],
    [
      'headers of 20 KB',
      'GET',
      `${PATH}/1`,
      undefined,
      { 'x-long': 'a'.repeat(20_000) },
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'an unknown expectation',
      'GET',
      `${PATH}/1`,
      undefined,
      { expect: 'wonders' },
      417,
      'EXPECTATION_FAILED',
    ],
  ])('to %s is the envelope', async (_, method, path, body, headers, status, reason) => {
    expectRefusal(await service.as().send(method, path, body, headers), status, reason);
  });

  it.each([
    ['what is no HTTP at all', 'NONSENSE\r\n\r\n'],
    ['a request without Host', `GET ${PATH}/1 HTTP/1.1\r\n\r\n`],
    ['2,500 headers', `GET ${PATH}/1 HTTP/1.1\r\n${'a: b\r\n'.repeat(2500)}Host: x\r\n\r\n`],
    ['an address without a host', 'GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target that is no path', 'GET x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('to %s is the envelope', async (_, bytes) => {
    const text = await sendRaw(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 (400|404|431) /);
    expect(Object.keys(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as object)).toEqual([
      'code',
      'msg',
      'data',
    ]);
  });

  it('to HEAD has no body, even where it never became a request', async () => {
    const text = await sendRaw(`HEAD ${PATH}/1 HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 .*\r\nContent-Length: [1-9]\d*\r\n.*\r\n\r\n$/s);
    const both = await sendRaw(`HEAD ${PATH}/1 HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n`);
    expect(both).toMatch(/^HTTP\/1\.1 4.*MALFORMED_REQUEST/s);
  });

  it('to a whole address is the answer to its path, and Location stays a path', async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${mintToken()}\r\nConnection: close\r\n`;
    const text = await sendRaw(
      `POST http://proxied.example${PATH}/?x=1 HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(/\r\nLocation: \/system\/dept-api\/\d+\r\n/);
  });

  it('to a path in other letters is 404', async () => {
    expect((await service.as().post('/SYSTEM/Dept-Api', {})).status).toBe(404);
  });

  it('to an odd request for a file of the documentation is no bug', async () => {
    for (const headers of [{ range: 'bytes=99999999-' }, { 'if-match': '"x"' }]) {
      const answer = await service.anonymous.get('/docs/swagger-ui.css', headers);
      expectRefusal(answer, 400, 'MALFORMED_REQUEST');
    }
  });

  it('to an expectation speaks the language asked for, under the id that was sent', async () => {
    const headers = { expect: 'x', 'accept-language': 'en', 'x-request-id': 'mine' };
    const answer = await service.as().get(`${PATH}/1`, headers);
    expect(answer.body.msg).toBe('The Expect header is not supported');
    expect(answer.refusal.requestId).toBe('mine');
  });

  function sendRaw(bytes: string): Promise<string> {
    const { hostname, port } = new URL(service.anonymous.baseUrl);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      let seen = '';
      socket.on('data', (chunk) => {
        seen += chunk.toString();
        if (/\r\n\r\n.*\}$/s.test(seen)) socket.end();
      });
      socket.on('close', () => {
        resolve(seen);
      });
      socket.on('error', reject);
    });
  }

  it('to a bug is a 500 that tells nothing, and the log tells all under the same id', async () => {
    jest.spyOn(service.app.get(DeptService), 'get').mockRejectedValue(new Error('secret detail'));
    const answer = await service.as().get(`${PATH}/1`);
    expectRefusal(answer, 500, 'INTERNAL_ERROR');
    expect(answer.text).not.toContain('secret detail');
    const line = service.log.find((each) => each.includes('secret detail'));
    expect(line).toContain(answer.refusal.requestId);
  });

  it('carries the request id that was sent, if it is harmless', async () => {
    const echoed = async (sent: string) =>
      (await service.as().get(`${PATH}/1`, { 'x-request-id': sent })).headers['x-request-id'];
    expect(await echoed('abc-DEF_1.2')).toBe('abc-DEF_1.2');
    for (const sent of ['a b', 'a"b', '<x>', 'a'.repeat(65), '']) {
      expect(await echoed(sent)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    }
  });

  it('speaks Chinese unless English is preferred', async () => {
    const messageFor = async (language?: string) =>
      (
        await service
          .as()
          .get(`${PATH}/999999`, language === undefined ? {} : { 'accept-language': language })
      ).body.msg;
    for (const language of [undefined, '*', 'zh', 'zh-CN,en;q=0.5', 'fr', 'x'.repeat(1000)]) {
      expect(await messageFor(language)).toBe('部门不存在');
    }
    for (const language of ['en', 'en-US,en;q=0.9', 'fr, en;q=0.8, zh;q=0.1']) {
      expect(await messageFor(language)).toBe('There is no such department');
    }
    const invalid = await service.as().get(`${PATH}/x`, { 'accept-language': 'en' });
    expect(invalid.refusal.fields).toEqual([{ field: 'id', message: 'must be a decimal id' }]);
    const success = await service
      .as()
      .get(`${PATH}/${await aDept(service.as())}`, { 'accept-language': 'en' });
    expect(success.body.msg).toBe('操作成功');
  });

  it('to a request for tokens that cannot be read is as RFC 6749 says', async () => {
    const token = (query: string, body: string, type = 'x-www-form-urlencoded') =>
      service.anonymous.post(`/auth/token${query}`, body, { 'content-type': `application/${type}` });
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

  it('to a deleted, a foreign and a never used id is the same to the byte', async () => {
    const api = service.as();
    const deptId = await aDept(api);
    await api.delete(`${PATH}/${deptId}`);
    const headers = { 'x-request-id': 'same' };
    const [deleted, never] = [
      await api.get(`${PATH}/${deptId}`, headers),
      await api.get(`${PATH}/77777777`, headers),
    ];
    expect(deleted.text).toBe(never.text);
  });
});

describe('HTTP_STATUS_MODE=always-200', () => {
  it('answers HTTP 200 with the real number in code, wherever the refusal comes from', async () => {
    const service = await ServiceUnderTest.start({ HTTP_STATUS_MODE: 'always-200' });
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
    await service.stop();
  });
});

describe('the log', () => {
  it('has a line per request with who asked for what, and no token and no body', async () => {
    const service = await ServiceUnderTest.start();
    const token = mintToken({ username: 'carol' });
    const api = service.anonymous.as(token);
    await api.post(
      `${PATH}?password=in-the-query`,
      { deptName: 'in-the-body' },
      { 'x-request-id': 'traced' },
    );
    await api.get(`${PATH}/x`);
    // A statement that fails carries its values with it.
    await service.dataSource.query('ALTER TABLE tenantry_dept RENAME COLUMN phone TO renamed');
    expect((await api.post(PATH, { leader: 'in-the-statement' })).status).toBe(500);
    expect(service.log.join('')).toContain('QueryFailedError');
    const line = service.log
      .map((each) => JSON.parse(each) as Record<string, unknown>)
      .find(({ requestId }) => requestId === 'traced');
    expect(line).toMatchObject({ method: 'POST', path: PATH, status: 200, tenant: '000000', user: 'carol' });
    const all = service.log.join('');
    for (const secret of [token, 'in-the-body', 'in-the-query', 'in-the-statement', 'admin-password'])
      expect(all).not.toContain(secret);
    await service.stop();
  });
});
