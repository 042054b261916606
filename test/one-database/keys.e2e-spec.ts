import { randomBytes } from 'node:crypto';
import { KeyUseRepository } from '../../src/server/auth/key-use.repository';
import { newKeySecret } from '../../src/server/auth/key-secret';
import { ApiClient, aUser } from '../../src/server/testing';
import { freePort } from '../support/free-port';
import { HandClock } from '../support/hand-clock';
import { recordQueries } from '../support/query-recorder';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const PATH = '/system/key-api';
const DEPTS = '/system/dept-api';

let made = 0;
async function aKey(api: ApiClient, fields: object = {}): Promise<{ id: number; secret: string }> {
  const body = { name: `key ${(made += 1)}`, permissions: ['dept:read'], ...fields };
  return (await api.post(PATH, body)).body.data as { id: number; secret: string };
}

describe('the secret of a key', () => {
  const clock = new HandClock();
  let service: ServiceUnderTest;
  let api: ApiClient;
  let scraper: ApiClient;

  beforeAll(async () => {
    const port = await freePort();
    service = await ServiceUnderTest.start({ METRICS_PORT: String(port), LOG_LEVEL: 'trace' }, clock);
    api = service.as();
    scraper = new ApiClient(`http://127.0.0.1:${port}`);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    scraper.close();
    await service.stop();
  });

  const good = newKeySecret();
  const other = randomBytes(32).toString('base64url');
  const swapped = good.slice(0, 9) + good[10]! + good[9]! + good.slice(11);
  const MISTYPED: Record<string, string> = {
    'the prefix alone': 'tnt_',
    'no check sum': good.slice(0, -6),
    'a character that is missing': good.slice(0, -1),
    'one character too many': `${good}0`,
    'another check sum': `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`,
    'other random characters': `tnt_${other}${good.slice(-6)}`,
    'upper and lower case exchanged': good.replace(/(?<=^tnt_[^a-zA-Z]*)[a-zA-Z]/, (letter) =>
      letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
    ),
    'two characters exchanged': swapped === good ? `${good}x` : swapped,
    'a blank inside': `${good.slice(0, 20)} ${good.slice(20)}`,
    'characters of other alphabets': `tnt_${'é'.repeat(49)}`,
    'a percent code': good.replace('_', '%5F'),
    'quotes around it': `tnt_"${good}"`,
    '8,000 characters': `tnt_${'a'.repeat(8000)}`,
    'a JWT behind the prefix': 'tnt_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln',
    'SQL behind the prefix': "tnt_' OR '1'='1",
  };

  it.each(Object.entries(MISTYPED).filter(([name]) => name !== 'a percent code'))(
    'a key with %s is mistyped, which costs no statement',
    async (_, secret) => {
      let answer = await service.anonymous.get('/system/dept-api/1', { authorization: `Bearer ${secret}` });
      const queries = await recordQueries(service.dataSource, async () => {
        answer = await service.anonymous.get('/system/dept-api/1', { authorization: `Bearer ${secret}` });
      });
      expect([answer.status, answer.refusal.reason]).toEqual([401, 'KEY_MISTYPED']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(queries).toEqual([]);
    },
  );

  it('a key that was never given is invalid, whatever its check sum says', async () => {
    const answer = await service.anonymous.as(newKeySecret()).get('/system/dept-api/1');
    expect([answer.status, answer.refusal.reason]).toEqual([401, 'KEY_INVALID']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('a key is good in the header of tokens alone, once, and behind its scheme', async () => {
    const { secret } = await aKey(api);
    const reasonWith = async (headers: Record<string, string | string[]>, path = '/auth/me') => {
      const { status, refusal } = await service.anonymous.get(path, headers);
      return status === 200 ? '200' : refusal.reason;
    };
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(await reasonWith({ authorization: `${scheme} ${secret}` })).toBe('200');
    for (const authorization of [
      secret,
      `Basic ${secret}`,
      `Bearer  ${secret}`,
      `Bearer ${MISTYPED['a percent code']}`,
      [`Bearer ${secret}`, `Bearer ${secret}`],
    ])
      expect([authorization, await reasonWith({ authorization })]).toEqual([authorization, 'TOKEN_INVALID']);
    for (const headers of [{ 'x-api-key': secret }, { cookie: `key=${secret}` }])
      expect(await reasonWith(headers)).toBe('TOKEN_MISSING');
    expect(await reasonWith({}, `/auth/me?access_token=${secret}`)).toBe('TOKEN_MISSING');
  });

  it('a request with a key needs no more statements than one with a token', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const token = service.as({ tenantId });
    const key = service.anonymous.as((await aKey(token)).secret);
    const statements = (by: ApiClient) =>
      recordQueries(service.dataSource, async () => {
        for (let n = 0; n < 5; n += 1) await by.get(`${DEPTS}/1`);
      });
    for (const by of [token, key]) await by.get(`${DEPTS}/1`);
    expect((await statements(key)).length).toBe((await statements(token)).length);
  });

  it('a last use that cannot be written harms nobody, and is not tried again in its minute', async () => {
    const { id, secret } = await aKey(api);
    const key = service.anonymous.as(secret);
    const writes = jest.spyOn(service.app.get(KeyUseRepository, { strict: false }), 'noteUse').mock.calls;
    await service.dataSource.query('ALTER TABLE tenantry_key RENAME COLUMN last_used_time TO renamed');
    const queries = await recordQueries(service.dataSource, async () => {
      for (let n = 0; n < 3; n += 1) expect((await key.get('/auth/me')).status).toBe(200);
      await until(() => service.log.some((line) => line.includes('the last use of a key was not written')));
    });
    await service.dataSource.query('ALTER TABLE tenantry_key RENAME COLUMN renamed TO last_used_time');
    expect(writes).toHaveLength(3);
    expect(queries.filter(({ sql }) => /^UPDATE \S*tenantry_key/.test(sql))).toHaveLength(1);
    clock.pass(60_000);
    await key.get('/auth/me');
    const lastUsed = async () =>
      ((await api.get(`${PATH}/${id}`)).body.data as { lastUsedTime: string | null }).lastUsedTime;
    await until(async () => (await lastUsed()) !== null);
  });

  it('a key has no account: it signs out of nothing, and has no password of its own to change', async () => {
    const permissions = ['user:write', 'dept:read'];
    const key = service.anonymous.as((await aKey(api, { roles: ['tenant_admin'], permissions })).secret);
    expect((await key.post('/auth/logout', {})).status).toBe(200);
    expect((await key.get('/auth/me')).status).toBe(200);
    const own = { oldPassword: 'x', newPassword: 'another-password' };
    const refused = await key.put('/system/user-api/password', own);
    expect([refused.status, refused.refusal.reason]).toEqual([404, 'USER_NOT_FOUND']);
    const userId = await aUser(api);
    const reset = await key.put('/system/user-api/password', { userId, newPassword: 'another-password' });
    expect(reset.status).toBe(200);
  });

  it('no account has a name that could pass for a key', async () => {
    for (const username of ['key:nightly', 'KEY:nightly', ' key: x', 'ｋｅｙ：nightly']) {
      const answer = await api.post('/system/user-api', { username, password: 'a-long-password' });
      expect([username, answer.status, answer.refusal.fields?.[0]?.field]).toEqual([
        username,
        400,
        'username',
      ]);
    }
    await aUser(api, { username: 'keynote:speaker' });
  });

  it('a secret is in no log, journal, table, metric, refusal or header, wherever a client has put it', async () => {
    const permissions = ['dept:read', 'dept:write', 'key:write', 'change:read', 'user:read'];
    const { id, secret } = await aKey(api, { roles: ['tenant_admin'], permissions });
    const key = service.anonymous.as(secret);
    const mistyped = `${secret.slice(0, -1)}~`;
    const answers = [
      await key.post(DEPTS, {}, { 'idempotency-key': 'harmless' }),
      await key.get(`${DEPTS}/1`),
      await key.get('/system/user-api?username=x'),
      await key.put('/system/webhook-api', {}),
      await key.get('/nowhere'),
      await key.get(`/nowhere/${secret}`),
      await key.get(`${PATH}/${secret}`),
      await key.get(`${PATH}/${secret.replace('_', '%5F')}`),
      await key.get(`${PATH}/${secret.replace('tnt', '%74%6E%74')}`),
      await key.get(`${DEPTS}/1`, { 'x-request-id': `job-${secret}` }),
      await key.get(`${PATH}/${id}?key=${secret}&limit=${secret}`),
      await key.get(`${DEPTS}/1`, { 'x-request-id': secret }),
      await key.post(DEPTS, '{', { 'x-request-id': secret }),
      await service.anonymous.as(mistyped).get(`${DEPTS}/1`),
      await service.anonymous.get(`${DEPTS}/1`, { authorization: secret }),
      await service.anonymous.get(`${DEPTS}/1`, { authorization: `Basic ${secret}`, cookie: secret }),
      await service.anonymous.get(`/auth/me?access_token=${secret}`),
      await service.anonymous.post('/auth/login', { username: secret, password: secret }),
      await service.anonymous.post('/auth/refresh', { refreshToken: secret }),
      await service.anonymous.post(
        '/auth/token',
        `grant_type=password&username=${secret}&password=${secret}`,
        {
          'content-type': 'application/x-www-form-urlencoded',
        },
      ),
      await key.post(DEPTS, {}, { 'idempotency-key': secret }),
      await key.get(PATH),
      await key.get(`${PATH}/${id}/history`),
      await key.get('/system/change-api?kinds=key'),
    ];
    await service.dataSource.query('ALTER TABLE tenantry_key RENAME COLUMN end_time TO renamed');
    await api.patch(`${PATH}/${id}`, { name: 'fails' });
    const unseen = await service.anonymous.as(newKeySecret()).get('/auth/me');
    await service.dataSource.query('ALTER TABLE tenantry_key RENAME COLUMN renamed TO end_time');
    expect(unseen.status).toBe(500);
    await api.delete(`${PATH}/${id}`);
    answers.push(await key.get('/auth/me'));

    const tables = service.dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const rows = await Promise.all(
      tables.map((table) => service.dataSource.query<object[]>(`SELECT * FROM ${table}`)),
    );
    const places = {
      log: service.log.join(''),
      answers: answers.map(({ text, headers }) => text + JSON.stringify(headers)).join(''),
      tables: JSON.stringify(rows),
      metrics: (await scraper.get('/metrics')).text,
    };
    // Also what is left of it when its ends are cut off.
    for (const [place, text] of Object.entries(places))
      expect([place, text.includes(secret.slice(8, 40))]).toEqual([place, false]);
    expect(places.log).toContain('tnt_***');
    expect(places.log).toContain('"user":"key:');
  });

  it('a key works where all users come from an outside provider, and a token of the service does not', async () => {
    const { secret } = await aKey(api);
    // The last test: from here on, the log of Nest is that of this service.
    const env = { LOCAL_ACCOUNTS: 'off', JWT_JWKS_URI: 'http://127.0.0.1:1/keys' };
    const outside = await ServiceUnderTest.on(service.database, env);
    expect((await outside.anonymous.as(secret).get('/auth/me')).status).toBe(200);
    expect((await outside.as().get('/auth/me')).status).toBe(401);
    await outside.leave();
  });
});

describe('a key under rate limits', () => {
  const service = ServiceUnderTest.use({ RATE_LIMIT: 'on', RATE_LIMIT_USER: '3' });

  it('rate limits count the requests of each key by itself, in its tenant', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const api = service.as({ tenantId });
    const [one, two] = [await aKey(api), await aKey(api)].map(({ secret }) => service.anonymous.as(secret));
    for (const left of ['2', '1', '0'])
      expect((await one!.get('/auth/me')).headers['ratelimit-remaining']).toBe(left);
    expect((await one!.get('/auth/me')).refusal.reason).toBe('RATE_LIMITED');
    expect((await two!.get('/auth/me')).status).toBe(200);
  });
});
