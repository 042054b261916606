import { aDept, mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { connectTo, exchange } from '../support/wire';

const PATH = '/system/dept-api';
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const HEAD = 'Host: x\r\nContent-Type: application/json\r\n';
const bearer = () => `Authorization: Bearer ${mintToken()}\r\n`;

/** Bodies that a caller with a token is refused for. */
const UNREADABLE: [string, string | Buffer, Record<string, string>][] = [
  ['broken JSON', '{"deptName":', JSON_TYPE],
  ['240 KB of empty lists', `[${'[],'.repeat(80_000)}0]`, JSON_TYPE],
  ['300 KB', JSON.stringify({ deptName: 'x'.repeat(300_000) }), JSON_TYPE],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), JSON_TYPE],
  ['another type', 'x', { 'content-type': 'text/plain' }],
  ['another encoding', '{}', { ...JSON_TYPE, 'content-encoding': 'zip' }],
];

describe('the body of a request', () => {
  const service = ServiceUnderTest.use();

  it.each(UNREADABLE)('a body does not matter without a token, or a route: %s', async (_, body, headers) => {
    const { anonymous } = service;
    for (const [method, path] of [
      ['POST', PATH],
      ['PUT', PATH],
      ['PATCH', `${PATH}/1`],
      ['POST', `${PATH}/import`],
    ] as const) {
      expect((await anonymous.send(method, path, body, headers)).refusal.reason).toBe('TOKEN_MISSING');
    }
    expect((await anonymous.as('ea.eb.c').post(PATH, body, headers)).refusal.reason).toBe('TOKEN_INVALID');
    expect((await service.as().post('/nowhere', body, headers)).refusal.reason).toBe('ROUTE_NOT_FOUND');
  });

  it('a body is not waited for where it is not read', async () => {
    for (const [line, status] of [
      [`POST ${PATH} HTTP/1.1\r\n${HEAD}`, 401],
      [`POST /nowhere HTTP/1.1\r\n${HEAD}${bearer()}`, 404],
    ] as const) {
      const bytes = `${line}Content-Length: 9\r\n\r\n`;
      expect((await exchange(service.anonymous.baseUrl, bytes)).status).toBe(status);
    }
  });

  it.each([
    ['/auth/login', JSON_TYPE, (text: string) => JSON.stringify({ username: 'a', password: text })],
    ['/auth/refresh', JSON_TYPE, (text: string) => JSON.stringify({ refreshToken: text })],
    ['/auth/token', JSON_TYPE, (text: string) => JSON.stringify({ grant_type: text })],
    ['/auth/token', FORM, (text: string) => `grant_type=${text}`],
  ])('a body of a sign-in at %s is at most 16 KB', async (path, headers, bodyOf) => {
    const post = (size: number, client = service.anonymous) =>
      client.post(path, bodyOf('x'.repeat(size - Buffer.byteLength(bodyOf('')))), headers);
    expect([400, 401]).toContain((await post(16_384)).status);
    const larger = await post(16_385);
    expect(larger.status).toBe(413);
    const envelope = { data: { reason: 'BODY_TOO_LARGE' } };
    const told = path === '/auth/token' ? { error: 'invalid_request' } : envelope;
    expect(JSON.parse(larger.text)).toMatchObject(told);
    expect((await post(16_385, service.as())).status).toBe(413);
  });

  it.each([
    ['small', 100],
    ['large', 4_000_000],
  ])('a body that is %s and not read leaves the connection in step', async (_, size) => {
    const inner = `GET ${PATH}/999999999 HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`;
    const body = inner.padEnd(size, '\n');
    const { socket, answer } = connectTo(service.anonymous.baseUrl);
    socket.write(`POST ${PATH} HTTP/1.1\r\n${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`);
    expect((await answer()).status).toBe(401);
    socket.write(`GET ${PATH}/${await aDept(service.as())} HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`);
    expect((await answer()).status).toBe(200);
    socket.destroy();
  });

  it.each([
    ['broken JSON', '{"deptName":"a",\n "leader" "b"}', 'body', 'is not valid JSON at line 2, column 11'],
    ['an unfinished text', '{"deptName":"a', 'body', 'is not valid JSON at line 1, column 15'],
    ['a second byte order mark', '\ufeff\ufeff{}', 'body', 'is not valid JSON at line 1, column 1'],
    ['nothing', '', undefined, undefined],
    ['too many levels', '['.repeat(33), 'body', 'must have at most 32 levels and 20000 values'],
  ])('a body is refused with the place where it is broken: %s', async (_, body, field, message) => {
    const { status, refusal } = await service.as().with({ 'accept-language': 'en' }).post(PATH, body);
    const problem = field === undefined ? undefined : [{ field, message }];
    const reason = field === undefined ? 'INVALID_INPUT' : 'MALFORMED_REQUEST';
    expect([status, refusal.reason]).toEqual([400, reason]);
    if (problem) expect(refusal.fields).toEqual(problem);
  });

  it('a body is refused with the place of a byte that is no UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{\n"deptName":"研'), Buffer.from([0xe9]), Buffer.from('"}')]);
    const { refusal } = await service.as().with({ 'accept-language': 'en' }).post(PATH, bytes);
    expect(refusal).toMatchObject({
      reason: 'MALFORMED_REQUEST',
      fields: [{ field: 'body', message: 'is not UTF-8 at line 2, column 14 (byte 18)' }],
    });
  });

  it.each([
    ['POST', PATH, 'text/plain', 'Content-Type', 'must be application/json, in UTF-8'],
    ['POST', PATH, 'application/json; charset=gbk', 'Content-Type', 'must be application/json, in UTF-8'],
    [
      ...(['PATCH', `${PATH}/1`, 'text/plain', 'Content-Type'] as const),
      'must be application/merge-patch+json or application/json, in UTF-8',
    ],
    ['POST', '/auth/login', 'text/plain', 'Content-Type', 'must be application/json, in UTF-8'],
  ])(
    'a body of another type is told what is accepted: %s %s %s',
    async (method, path, type, field, message) => {
      const english = { 'accept-language': 'en', 'content-type': type };
      const { status, refusal } = await service.as().send(method, path, '{}', english);
      expect([status, refusal.fields]).toEqual([415, [{ field, message }]]);
    },
  );

  it('a body of another encoding is told what is accepted', async () => {
    const odd = { 'accept-language': 'en', 'content-encoding': 'zip' };
    expect((await service.as().post(PATH, '{}', odd)).refusal.fields).toEqual([
      { field: 'Content-Encoding', message: 'must be gzip, deflate, br or identity' },
    ]);
    const grant = await service.anonymous.post('/auth/token', 'x', { 'content-type': 'text/plain' });
    expect(JSON.parse(grant.text)).toMatchObject({
      error: 'invalid_request',
      error_description: 'The body must be application/x-www-form-urlencoded, in UTF-8',
    });
  });

  it('a body is read to its end before a caller with a token is answered', async () => {
    const { socket, answer } = connectTo(service.anonymous.baseUrl);
    socket.write(`POST ${PATH} HTTP/1.1\r\n${HEAD}${bearer()}Content-Length: 2\r\n\r\n{`);
    await service.as().get(`${PATH}/1`);
    socket.write('}');
    expect((await answer()).status).toBe(200);
    socket.destroy();
  });
});
