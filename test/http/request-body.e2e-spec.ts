import { aDept, type ApiClient, mintToken } from '../../src/server/testing';
import { connectTo } from '../support/wire';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const HOST = 'Host: x\r\nContent-Type: application/json\r\n';

/** Bodies that a caller with a token is refused for. */
const UNREADABLE: [string, string | Buffer, Record<string, string>][] = [
  ['broken JSON', '{"deptName":', JSON_TYPE],
  ['a JSON array', '[]', JSON_TYPE],
  ['240 KB of empty lists', `[${'[],'.repeat(80_000)}0]`, JSON_TYPE],
  ['100,000 brackets', '['.repeat(100_000), JSON_TYPE],
  ['300 KB', JSON.stringify({ deptName: 'x'.repeat(300_000) }), JSON_TYPE],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), JSON_TYPE],
  ['another type', 'x', { 'content-type': 'text/plain' }],
  ['another encoding', '{}', { ...JSON_TYPE, 'content-encoding': 'zip' }],
];

describe('the body of a request', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(() => {
    api = service.as();
  });

  const bearer = () => `Authorization: Bearer ${mintToken()}\r\n`;

  describe('of a caller without a token', () => {
    it.each(UNREADABLE)('does not matter: %s', async (_, body, headers) => {
      for (const [method, path] of [
        ['POST', PATH],
        ['PUT', PATH],
        ['PATCH', `${PATH}/1`],
      ] as const) {
        const answer = await service.anonymous.send(method, path, body, headers);
        expect(answer.refusal.reason).toBe('TOKEN_MISSING');
      }
      const imported = await service.anonymous.post(`${PATH}/import`, body, headers);
      expect(imported.refusal.reason).toBe('TOKEN_MISSING');
      const forged = await service.anonymous.as('ea.eb.c').post(PATH, body, headers);
      expect([forged.status, forged.refusal.reason]).toEqual([401, 'TOKEN_INVALID']);
    });

    it('is not waited for', async () => {
      const { socket, answer } = connectTo(api.baseUrl);
      socket.write(`POST ${PATH} HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\n`);
      expect((await answer()).status).toBe(401);
      socket.destroy();
    });

    it('is not read by routes that are open to all', async () => {
      expect((await service.anonymous.send('GET', '/health/live', '{', JSON_TYPE)).status).toBe(200);
    });
  });

  it.each([
    ['/auth/login', JSON_TYPE, (text: string) => JSON.stringify({ username: 'a', password: text })],
    ['/auth/refresh', JSON_TYPE, (text: string) => JSON.stringify({ refreshToken: text })],
    ['/auth/token', JSON_TYPE, (text: string) => JSON.stringify({ grant_type: text })],
    ['/auth/token', FORM, (text: string) => `grant_type=${text}`],
  ])('of a sign-in at %s is at most 16 KB', async (path, headers, bodyOf) => {
    const empty = Buffer.byteLength(bodyOf(''));
    const largest = await service.anonymous.post(path, bodyOf('x'.repeat(16_384 - empty)), headers);
    expect([400, 401]).toContain(largest.status);
    const larger = await service.anonymous.post(path, bodyOf('x'.repeat(16_385 - empty)), headers);
    expect(larger.status).toBe(413);
    const told = JSON.parse(larger.text) as object;
    expect(told).toMatchObject(
      path === '/auth/token' ? { error: 'invalid_request' } : { data: { reason: 'BODY_TOO_LARGE' } },
    );
    // A token does not make it more.
    expect((await api.post(path, bodyOf('x'.repeat(16_385 - empty)), headers)).status).toBe(413);
  });

  it('of an unknown route is read by no one, and the answer does not wait for it', async () => {
    for (const [, body, headers] of UNREADABLE)
      expect((await api.post('/nowhere', body, headers)).refusal.reason).toBe('ROUTE_NOT_FOUND');
    const { socket, answer } = connectTo(api.baseUrl);
    socket.write(`POST /nowhere HTTP/1.1\r\n${HOST}${bearer()}Content-Length: 9\r\n\r\n`);
    expect((await answer()).status).toBe(404);
    socket.destroy();
  });

  it.each([
    ['small', 100],
    ['large', 4_000_000],
  ])('that is %s and not read leaves the connection in step', async (_, size) => {
    const inner = `GET ${PATH}/999999999 HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`;
    const body = inner.padEnd(size, '\n');
    const { socket, answer } = connectTo(api.baseUrl);
    const refused = (line: string, token = '') =>
      `${line} HTTP/1.1\r\n${HOST}${token}Content-Length: ${body.length}\r\n\r\n${body}`;
    const asked = `GET ${PATH}/${await aDept(api)} HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`;
    socket.write(`${refused(`POST ${PATH}`)}${refused('POST /nowhere', bearer())}${asked}`);
    const answers = [await answer(), await answer(), await answer()];
    expect(answers.map(({ status }) => status)).toEqual([401, 404, 200]);
    // A client that waits for each answer sees the same.
    socket.write(refused(`POST ${PATH}/import`));
    expect((await answer()).status).toBe(401);
    socket.write(asked);
    expect((await answer()).status).toBe(200);
    socket.destroy();
  });

  it('is read to its end before a caller with a token is answered', async () => {
    const { socket, answer } = connectTo(api.baseUrl);
    socket.write(`POST ${PATH} HTTP/1.1\r\n${HOST}${bearer()}Content-Length: 2\r\n\r\n{`);
    await api.get(`${PATH}/1`);
    socket.write('}');
    expect((await answer()).status).toBe(200);
    socket.destroy();
  });
});
