import type { Socket } from 'node:net';
import { RetryBudget } from '../../src/database/retry-policy';
import { DeptService } from '../../src/dept/dept.service';
import { ShutdownState } from '../../src/server/health/health.controller';
import { SignInService } from '../../src/server/auth/sign-in.service';
import { newKeySecret } from '../../src/server/auth/key-secret';
import { type Answer, type ApiClient, aTenant, aUser, mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { deferred, until } from '../support/until';
import { connectTo, exchange } from '../support/wire';

const PATH = '/system/dept-api';
const DEBUG = 20;
const INFO = 30;
const WARN = 40;
const ERROR = 50;

interface Line {
  readonly level: number;
  readonly requestId?: string;
  readonly method?: string;
  readonly status?: number;
  readonly err?: { readonly message?: string; readonly stack?: string; readonly cause?: unknown };
  readonly [other: string]: unknown;
}

describe('the log', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(async () => {
    api = service.as();
    await api.get(`${PATH}/1`);
  });
  afterEach(() => jest.restoreAllMocks());

  const linesOf = (fits: (line: Line) => boolean, log = service.log): Line[] =>
    log.map((line) => JSON.parse(line) as Line).filter(fits);

  /** The lines of one request, once the one that ends it is there. */
  async function linesAbout(requestId: string, log = service.log): Promise<Line[]> {
    let lines: Line[] = [];
    await until(() => {
      lines = linesOf((line) => line.requestId === requestId, log);
      return lines.some(({ method }) => method !== undefined);
    });
    return lines;
  }

  it('the log has a line per request with who asked for what, and no token and no body', async () => {
    const token = mintToken({ username: 'carol' });
    const carol = service.anonymous.as(token);
    const traced = { 'x-request-id': 'traced' };
    await carol.post(`${PATH}?password=in-the-query`, { deptName: 'in-the-body' }, traced);
    await carol.get(`${PATH}/x`);
    // A statement that fails carries its values with it.
    await service.dataSource.query('ALTER TABLE tenantry_dept RENAME COLUMN phone TO renamed');
    expect((await carol.post(PATH, { leader: 'in-the-statement' })).status).toBe(500);
    await service.dataSource.query('ALTER TABLE tenantry_dept RENAME COLUMN renamed TO phone');
    expect(service.log.join('')).toContain('QueryFailedError');
    const lines = service.log.map((each) => JSON.parse(each) as Record<string, unknown>);
    const line = lines.find(({ requestId }) => requestId === 'traced');
    expect(line).toMatchObject({ method: 'POST', path: PATH, status: 200, tenant: '000000', user: 'carol' });
    for (const secret of [token, 'in-the-body', 'in-the-query', 'in-the-statement', 'admin-password'])
      expect(service.log.join('')).not.toContain(secret);
  });

  it.each([
    ['a handler', 'GET', `${PATH}/999999999`, undefined, 404, 'DEPT_NOT_FOUND', `${PATH}/:id`],
    ['a pipe', 'GET', `${PATH}/x?secret=1`, undefined, 400, 'INVALID_INPUT', `${PATH}/:id`],
    ['the router', 'GET', '/nowhere', undefined, 404, 'ROUTE_NOT_FOUND', 'none'],
    ['the parser', 'POST', PATH, '{', 400, 'MALFORMED_REQUEST', PATH],
  ])('the log has a warning of what %s refused', async (_, method, path, body, status, reason, route) => {
    const answer = await api.send(method, path, body);
    const lines = await linesAbout(answer.refusal.requestId);
    expect(lines).toEqual([
      expect.objectContaining({ level: WARN, method, path: path.split('?')[0], status, reason }),
    ]);
    expect(lines[0]!.route).toBe(route);
    expect(lines[0]).not.toHaveProperty('aborted');
  });

  it.each([
    ['an answer', '/system/dept-api?limit=1', {}, INFO, PATH],
    ['a page outside the API', '/', {}, INFO, '/'],
    ['an odd request', `${PATH}/1`, { expect: 'magic' }, WARN, 'none'],
  ])('the log has the route of %s', async (name, path, headers, level, route) => {
    const requestId = name.replaceAll(' ', '-');
    await api.get(path, { ...headers, 'x-request-id': requestId });
    expect(await linesAbout(requestId)).toEqual([expect.objectContaining({ level, route })]);
  });

  it('the log says for how long a follower has waited for changes', async () => {
    const after = (await api.get('/system/change-api?limit=100')).body.data as { nextCursor: string };
    await api.get(`/system/change-api?after=${after.nextCursor}&wait=1`, { 'x-request-id': 'follower' });
    const [line] = await linesAbout('follower');
    expect(line).toMatchObject({ level: INFO, route: '/system/change-api' });
    expect(line!.waitedMs).toBeGreaterThan(0);
    expect(line!.ms).toBeGreaterThanOrEqual(line!.waitedMs as number);
  });

  it('the log has a warning of sign-ins that were refused in the words of OAuth2', async () => {
    const { headers } = await service.anonymous.send('POST', '/auth/token', 'grant_type=magic', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    const [line] = await linesAbout(String(headers['x-request-id']));
    expect(line).toMatchObject({ level: WARN, status: 400, reason: 'unsupported_grant_type' });
  });

  it('the log tells of sign-ins, refreshes and sign-outs whose they are, and the reason that callers are not told', async () => {
    const superadmin = service.as({ roles: ['superadmin'] });
    const { id, tenantId } = await aTenant(superadmin);
    const admin = service.as({ tenantId });
    const userId = await aUser(admin, { username: 'somebody' });
    await aUser(admin, { username: 'disabled', status: '1' });
    const { anonymous } = service;
    const lineOf = async (sent: Promise<Answer>) => {
      const { headers } = await sent;
      return (await linesAbout(String(headers['x-request-id']))).at(-1)!;
    };
    const login = (password = 'a-long-password', username = 'somebody') =>
      anonymous.post('/auth/login', { tenantId, username, password });
    const refresh = (refreshToken: string) => anonymous.post('/auth/refresh', { refreshToken });
    const tokensOf = ({ body }: Answer) => body.data as { accessToken: string; refreshToken: string };
    const who = { tenant: tenantId, user: 'somebody' };
    const refused = { level: WARN, status: 401, reason: 'BAD_CREDENTIALS' };

    expect(await lineOf(login('wrong-password', 'nobody'))).toMatchObject({
      ...{ ...refused, tenant: tenantId, user: 'nobody', outcome: 'unknown_user' },
    });
    expect(await lineOf(login('a-long-password', 'disabled'))).toMatchObject({
      ...{ ...refused, tenant: tenantId, user: 'disabled', outcome: 'disabled' },
    });
    // Names are found however they are written, and told as the account has them.
    expect(await lineOf(login('wrong-password', 'ｓomebody'))).toMatchObject({
      ...{ ...refused, ...who, outcome: 'wrong_password' },
    });
    for (let n = 0; n < 4; n += 1) await login('wrong-password');
    expect(await lineOf(login())).toMatchObject({ ...refused, ...who, outcome: 'locked' });
    await admin.put('/system/user-api/password', { userId, newPassword: 'a-long-password' });
    const first = await login();
    const { accessToken, refreshToken } = tokensOf(first);
    const session = refreshToken.split('.')[0];
    const told = { ...who, session };
    expect(await lineOf(Promise.resolve(first))).toMatchObject({
      ...told,
      outcome: 'signed_in',
      status: 200,
    });
    expect(await lineOf(refresh(refreshToken))).toMatchObject({ ...told, outcome: 'refreshed' });
    expect(await lineOf(refresh(refreshToken))).toMatchObject({ ...told, outcome: 'reused_token' });
    expect(await lineOf(refresh(refreshToken))).toMatchObject({ ...told, outcome: 'session_ended' });
    const made = await lineOf(refresh('made.up'));
    expect([made.outcome, made.tenant]).toEqual(['unknown_session', undefined]);
    const second = tokensOf(await login());
    expect(await lineOf(anonymous.as(second.accessToken).post('/auth/logout', {}))).toMatchObject({
      ...{ ...who, outcome: 'signed_out', session: second.refreshToken.split('.')[0] },
    });
    expect(await lineOf(admin.post('/auth/logout', {}))).toMatchObject({ outcome: 'no_session' });
    const third = tokensOf(await login());
    await superadmin.patch(`/system/tenant-api/${id}`, { status: '1' });
    const closed = { ...who, status: 403, reason: 'TENANT_DISABLED', outcome: 'tenant_not_served' };
    expect(await lineOf(login())).toMatchObject(closed);
    expect(await lineOf(refresh(third.refreshToken))).toMatchObject(closed);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const grant = `grant_type=password&username=${tenantId}/somebody&password=wrong-password`;
    expect(await lineOf(anonymous.send('POST', '/auth/token', grant, form))).toMatchObject({
      ...{ ...who, status: 400, outcome: 'wrong_password' },
    });
    const log = service.log.join('');
    for (const secret of [accessToken, refreshToken, 'a-long-password', 'wrong-password'])
      expect(log).not.toContain(secret);
  });

  it('the log hides a key that was typed as a user name', async () => {
    const secret = newKeySecret();
    const { refusal } = await service.anonymous.post('/auth/login', { username: secret, password: 'x' });
    const [line] = await linesAbout(refusal.requestId);
    expect([line!.outcome, line!.user]).toEqual(['unknown_user', 'tnt_***']);
  });

  it('the log has a warning of bytes that never became a request', async () => {
    await exchange(service.anonymous.baseUrl, 'NONSENSE\r\n\r\n');
    const [line] = linesOf(({ status, method }) => status === 400 && method === undefined);
    expect(line).toMatchObject({ level: WARN, reason: 'MALFORMED_REQUEST', route: 'none' });
    expect(line!.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([undefined, 400, 429])(
    'the log has the error of what failed, also with a status: %p',
    async (status) => {
      const fault = Object.assign(new Error('a fault'), status && { status, statusCode: status });
      jest.spyOn(DeptService.prototype, 'get').mockRejectedValue(fault);
      jest.spyOn(SignInService.prototype, 'login').mockRejectedValue(fault);
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      for (const answer of [
        await api.get(`${PATH}/1`),
        await service.anonymous.post('/auth/token', 'grant_type=password&username=a&password=b', form),
      ]) {
        expect([answer.status, answer.text]).toEqual([500, expect.not.stringContaining('a fault')]);
        const [error, end] = await linesAbout(String(answer.headers['x-request-id']));
        expect(error).toMatchObject({ level: ERROR, err: { message: 'a fault' } });
        expect(error!.err!.stack).toContain('log-lines.e2e-spec');
        expect(end).toMatchObject({ level: ERROR, status: 500 });
      }
    },
  );

  it('the log has the cause of what failed because of the database', async () => {
    const create = service.dataSource.createQueryRunner.bind(service.dataSource);
    const deadlock = Object.assign(new Error('Deadlock found'), { errno: 1213 });
    jest
      .spyOn(service.dataSource, 'createQueryRunner')
      .mockImplementation(() =>
        Object.assign(create(), { startTransaction: () => Promise.reject(deadlock) }),
      );
    jest.spyOn(RetryBudget.prototype, 'next').mockReturnValueOnce(null);
    const answer = await api.post(PATH, {});
    expect(answer.refusal.reason).toBe('DATABASE_UNAVAILABLE');
    const [error, end] = await linesAbout(answer.refusal.requestId);
    expect(error).toMatchObject({ level: ERROR, err: { cause: { cause: { message: 'Deadlock found' } } } });
    expect(end).toMatchObject({ level: ERROR, status: 503, reason: 'DATABASE_UNAVAILABLE', route: PATH });
  });

  it('the log has a warning of clients that went away', async () => {
    const held = deferred<never>();
    const begun = deferred();
    jest.spyOn(DeptService.prototype, 'get').mockImplementation(() => {
      begun.resolve();
      return held.promise;
    });
    const aborting = new AbortController();
    const { authorization } = (api as unknown as { headers: { authorization: string } }).headers;
    const asked = fetch(`${api.baseUrl}${PATH}/1`, {
      headers: { authorization, 'x-request-id': 'gone' },
      signal: aborting.signal,
    });
    await begun.promise;
    aborting.abort();
    await expect(asked).rejects.toThrow('aborted');
    const [line] = await linesAbout('gone');
    expect(line).toMatchObject({ level: WARN, status: 499, reason: 'CLIENT_GONE', aborted: true });
    held.reject(new Error('nobody hears it'));
  });

  describe('an upload that breaks off', () => {
    const json = 'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{';
    const file = 'Content-Type: application/x-ndjson\r\nContent-Length: 99\r\n\r\n{';
    const destroy = (socket: Socket) => socket.destroy();
    const reset = (socket: Socket) => socket.resetAndDestroy();
    const endHalf = (socket: Socket) => socket.end();
    const another = async (requestId: string) => {
      await api.get(`${PATH}/x`, { 'x-request-id': requestId });
      await linesAbout(requestId);
    };

    it.each([
      ['JSON', PATH, json, destroy],
      ['JSON, reset', PATH, json, reset],
      ['a file', `${PATH}/import`, file, destroy],
      ['a file, ended on one side', `${PATH}/import`, file, endHalf],
    ])('the log has one warning of an upload that breaks off: %s', async (name, path, rest, breakOff) => {
      const requestId = `aborted-${name.replace(/[, ]+/g, '-')}`;
      const before = service.log.length;
      const head = `Host: x\r\nAuthorization: Bearer ${mintToken()}\r\nX-Request-Id: ${requestId}\r\n`;
      const { socket } = connectTo(api.baseUrl);
      socket.write(`POST ${path} HTTP/1.1\r\n${head}${rest}`);
      // The service has begun to read it.
      await another(`${requestId}-begun`);
      breakOff(socket);
      await linesAbout(requestId);
      await another(`${requestId}-over`);
      socket.destroy();
      const lines = linesOf(
        (line) => !/-(begun|over)$/.test(line.requestId ?? ''),
        service.log.slice(before),
      );
      expect(lines).toEqual([
        expect.objectContaining({
          level: WARN,
          requestId,
          status: 499,
          reason: 'CLIENT_GONE',
          aborted: true,
        }),
      ]);
    });
  });

  it('the log has one warning of a body that is no HTTP, under the id of its answer', async () => {
    const { socket, answer } = connectTo(api.baseUrl);
    const head = `Host: x\r\nAuthorization: Bearer ${mintToken()}\r\nX-Request-Id: bad-chunk\r\n`;
    const before = service.log.length;
    socket.write(
      `POST ${PATH} HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz`,
    );
    expect((await answer()).body).toContain('"requestId":"bad-chunk"');
    socket.destroy();
    await linesAbout('bad-chunk');
    expect(linesOf(() => true, service.log.slice(before))).toEqual([
      expect.objectContaining({ level: WARN, status: 400, reason: 'MALFORMED_REQUEST', path: PATH }),
    ]);
  });

  it('the log calls a failure one where every status is 200', async () => {
    const other = await ServiceUnderTest.on(service.database, { HTTP_STATUS_MODE: 'always-200' });
    jest.spyOn(DeptService.prototype, 'get').mockRejectedValue(new Error('a fault'));
    const answer = await other.as().get(`${PATH}/1`);
    expect([answer.status, answer.body.code]).toEqual([200, 500]);
    const lines = await linesAbout(answer.refusal.requestId, other.log);
    expect(lines.at(-1)).toMatchObject({ level: ERROR, status: 500, reason: 'INTERNAL_ERROR' });
    await other.leave();
  });

  it('the log tells of probes only to those who debug, unless the answer was no', async () => {
    const probes = (log: readonly string[]) =>
      linesOf(({ path }) => String(path).startsWith('/health/'), log).map(({ level, path }) => [level, path]);
    const other = await ServiceUnderTest.on(service.database, { LOG_LEVEL: 'debug' });
    for (const { anonymous } of [service, other])
      for (const name of ['live', 'ready']) await anonymous.get(`/health/${name}`);
    await until(() => probes(other.log).length === 2);
    expect(probes(other.log)).toEqual([
      [DEBUG, '/health/live'],
      [DEBUG, '/health/ready'],
    ]);
    other.app.get(ShutdownState).request();
    expect((await other.anonymous.get('/health/ready')).status).toBe(503);
    await until(() => probes(other.log).length === 3);
    expect(probes(other.log).at(-1)).toEqual([WARN, '/health/ready']);
    await other.leave();
    expect(probes(service.log)).toEqual([]);
  });
});
