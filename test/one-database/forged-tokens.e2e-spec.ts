import { createHmac, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sign, type SignOptions } from 'jsonwebtoken';
import { mintToken, TEST_SECRET } from '../../src/server/testing';
import { JWT, ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api/1';
const now = () => Math.floor(Date.now() / 1000);
const CLAIMS = {
  sub: 'user-1',
  tenantId: '000000',
  username: 'mallory',
  roles: ['tenant_admin'],
  iss: 'tenantry',
  aud: 'tenantry',
};

/** A token signed with our key whose claims differ from good ones; undefined removes a claim. */
function withClaims(change: Record<string, unknown>): string {
  const claims = { ...CLAIMS, iat: now(), exp: now() + 600, jti: 'x', ...change };
  return raw({ alg: 'HS256', typ: 'JWT' }, claims, JWT.key);
}

function signed(key: string | KeyObject, options: SignOptions): string {
  return sign({ ...CLAIMS, exp: now() + 600 }, key, options);
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token put together by hand: libraries refuse to make most of these. */
function raw(header: unknown, claims: unknown, key?: KeyObject | string, algorithm = 'sha256'): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${key === undefined ? '' : createHmac(algorithm, key).update(input).digest('base64url')}`;
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const good = mintToken();
const [head = '', body = '', signature = ''] = good.split('.');
const claims = () => ({ ...CLAIMS, iat: now(), exp: now() + 600 });

const BEARERS: Record<string, () => string> = {
  'alg none': () => raw({ alg: 'none', typ: 'JWT' }, claims()),
  'alg None': () => raw({ alg: 'None', typ: 'JWT' }, claims()),
  'alg NONE with a signature': () => raw({ alg: 'NONE', typ: 'JWT' }, claims(), JWT.key),
  'alg none with our signature': () => raw({ alg: 'none', typ: 'JWT' }, claims(), JWT.key),
  'no alg': () => raw({ typ: 'JWT' }, claims(), JWT.key),
  'alg null': () => raw({ alg: null }, claims(), JWT.key),
  'alg a number': () => raw({ alg: 256 }, claims(), JWT.key),
  'alg a list': () => raw({ alg: ['HS256'] }, claims(), JWT.key),
  'alg in lower case': () => raw({ alg: 'hs256' }, claims(), JWT.key),
  'an unknown alg': () => raw({ alg: 'XX256' }, claims(), JWT.key),
  HS384: () => signed(JWT.key, { algorithm: 'HS384' }),
  HS512: () => signed(JWT.key, { algorithm: 'HS512' }),
  'HS256 in the header, SHA-512 in the signature': () => raw({ alg: 'HS256' }, claims(), JWT.key, 'sha512'),
  RS256: () => signed(rsa.privateKey, { algorithm: 'RS256' }),
  PS256: () => signed(rsa.privateKey, { algorithm: 'PS256' }),
  ES256: () => signed(ec.privateKey, { algorithm: 'ES256' }),
  'HS256 with a public key as the secret': () =>
    raw({ alg: 'HS256' }, claims(), rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
  'another key': () => signed(createSecretKey('another-secret-of-at-least-32-bytes!', 'utf8'), {}),
  'an empty key': () => raw({ alg: 'HS256' }, claims(), ''),
  'our key without its last byte': () => raw({ alg: 'HS256' }, claims(), TEST_SECRET.slice(0, -1)),
  'a kid that points to a file': () => raw({ alg: 'HS256', kid: '/dev/null' }, claims(), ''),
  'a key in the header': () => raw({ alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, claims(), 'x'),
  'an extension that must be understood': () => raw({ alg: 'HS256', crit: ['x'], x: 1 }, claims(), JWT.key),
  'a known name among the critical ones': () => raw({ alg: 'HS256', crit: ['exp'] }, claims(), JWT.key),
  'an empty list of critical extensions': () => raw({ alg: 'HS256', crit: [] }, claims(), JWT.key),
  'critical extensions that are no list': () => raw({ alg: 'HS256', crit: null }, claims(), JWT.key),
  'no issuer': () => withClaims({ iss: undefined }),
  'another issuer': () => withClaims({ iss: 'somebody' }),
  'a list of issuers': () => withClaims({ iss: ['tenantry'] }),
  'no audience': () => withClaims({ aud: undefined }),
  'another audience': () => withClaims({ aud: 'somebody' }),
  'an empty audience list': () => withClaims({ aud: [] }),
  'no expiry': () => withClaims({ exp: undefined }),
  'expiry in the past': () => withClaims({ exp: now() - 1 }),
  'expiry a text': () => withClaims({ exp: String(now() + 600) }),
  'expiry null': () => withClaims({ exp: null }),
  'expiry an object': () => withClaims({ exp: {} }),
  'not valid before tomorrow': () => withClaims({ nbf: now() + 86_400 }),
  'not-before a text': () => withClaims({ nbf: 'now' }),
  'issued tomorrow': () => withClaims({ iat: now() + 86_400 }),
  'issued never': () => withClaims({ iat: undefined }),
  'issued at a text': () => withClaims({ iat: 'now' }),
  'no subject': () => withClaims({ sub: undefined }),
  'an empty subject': () => withClaims({ sub: '' }),
  'a subject that is a number': () => withClaims({ sub: 1 }),
  'a subject of 10,000 characters': () => withClaims({ sub: 'a'.repeat(10_000) }),
  'no tenant': () => withClaims({ tenantId: undefined }),
  'tenant null': () => withClaims({ tenantId: null }),
  'an empty tenant': () => withClaims({ tenantId: '' }),
  'tenant a number': () => withClaims({ tenantId: 0 }),
  'tenant a list': () => withClaims({ tenantId: ['000000'] }),
  'tenant a condition': () => withClaims({ tenantId: { $ne: '' } }),
  'tenant with SQL in it': () => withClaims({ tenantId: "000000' OR '1'='1" }),
  'tenant a pattern': () => withClaims({ tenantId: '00000%' }),
  'a tenant that does not exist': () => withClaims({ tenantId: '424242' }),
  'no user name': () => withClaims({ username: undefined }),
  'a blank user name': () => withClaims({ username: '  ' }),
  'a user name with NUL in it': () => withClaims({ username: 'admin\0x' }),
  'a user name that is an object': () => withClaims({ username: {} }),
  'a user name of 65 characters': () => withClaims({ username: 'a'.repeat(65) }),
  'no roles': () => withClaims({ roles: undefined }),
  'roles a text': () => withClaims({ roles: 'tenant_admin' }),
  'roles null': () => withClaims({ roles: null }),
  'roles an object': () => withClaims({ roles: { 0: 'tenant_admin', length: 1 } }),
  'a list of roles that are no texts': () => withClaims({ roles: [['tenant_admin']] }),
  'no role in the list': () => withClaims({ roles: [] }),
  'unknown roles only': () => withClaims({ roles: ['root', 'Tenant_Admin', 'tenant_admin ', '__proto__'] }),
  'a scope that is a list': () => withClaims({ scope: ['dept:read', 'dept:write'] }),
  'a scope that is null': () => withClaims({ scope: null }),
  'a scope that is a number': () => withClaims({ scope: 0 }),
  'a scope that is an object': () => withClaims({ scope: { includes: true } }),
  'an empty scope': () => withClaims({ scope: '' }),
  'a scope with unknown names only': () =>
    withClaims({ scope: 'openid DEPT:READ dept:* * __proto__ length' }),
  'a scope with commas': () => withClaims({ scope: 'dept:read,dept:write' }),
  'managed departments that are a text': () => withClaims({ managedDeptIds: '1,2' }),
  'managed departments that are null': () => withClaims({ managedDeptIds: null }),
  'managed departments that are texts': () => withClaims({ managedDeptIds: ['1'] }),
  'managed departments that are no ids': () => withClaims({ managedDeptIds: [0, -1, 1.5, 2 ** 53] }),
  'managed departments with SQL in them': () => withClaims({ managedDeptIds: ['1) OR (1=1'] }),
  'managed departments, 51 of them': () =>
    withClaims({ managedDeptIds: Array.from({ length: 51 }, (_, n) => n + 1) }),
  'a data scope that is a text': () => withClaims({ dataScope: 'all' }),
  'a data scope that is null': () => withClaims({ dataScope: null }),
  'a data scope that is one part': () => withClaims({ dataScope: { kind: 'all' } }),
  'a data scope of an unknown kind': () => withClaims({ dataScope: [{ kind: 'everything' }] }),
  'a data scope with a part that is null': () => withClaims({ dataScope: [{ kind: 'all' }, null] }),
  'a data scope of departments without ids': () =>
    withClaims({ dataScope: [{ kind: 'depts', below: true }] }),
  'a data scope that does not say whether what is below is in it': () =>
    withClaims({ dataScope: [{ kind: 'depts', deptIds: [1] }] }),
  'a data scope with ids that are texts': () =>
    withClaims({ dataScope: [{ kind: 'depts', deptIds: ['1'], below: true }] }),
  'a data scope of 51 parts': () => withClaims({ dataScope: Array(51).fill({ kind: 'own' }) }),
  'superadmin outside the platform tenant': () => withClaims({ tenantId: '100001', roles: ['superadmin'] }),
  'claims that are a list': () => raw({ alg: 'HS256', typ: 'JWT' }, [1], JWT.key),
  'claims that are a text': () => raw({ alg: 'HS256', typ: 'JWT' }, 'text', JWT.key),
  'claims that are null': () => raw({ alg: 'HS256', typ: 'JWT' }, null, JWT.key),
  'no signature': () => `${head}.${body}.`,
  'two parts': () => `${head}.${body}`,
  'four parts': () => `${good}.${signature}`,
  'one part': () => head,
  'a truncated signature': () => good.slice(0, -3),
  'a changed signature': () =>
    `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
  'swapped parts': () => `${body}.${head}.${signature}`,
  "another token's claims": () => `${head}.${encode({ ...claims(), roles: ['superadmin'] })}.${signature}`,
  'base64 padding': () => `${good}=`,
  'not base64': () => '!!!.???.###',
  'not JSON': () => `${Buffer.from('x').toString('base64url')}.${body}.${signature}`,
  'a token of 8,000 characters': () => `${head}.${'a'.repeat(8000)}.${signature}`,
};

const HEADERS: Record<string, Record<string, string | string[]>> = {
  'no header': {},
  'an empty header': { authorization: '' },
  'the scheme alone': { authorization: 'Bearer' },
  'the scheme and a blank': { authorization: 'Bearer ' },
  'no scheme': { authorization: good },
  'another scheme': { authorization: `Basic ${good}` },
  'two blanks': { authorization: `Bearer  ${good}` },
  'a tab': { authorization: `Bearer\t${good}` },
  'something after the token': { authorization: `Bearer ${good} x` },
  'two tokens in one header': { authorization: `Bearer ${good}, Bearer ${good}` },
  'two headers': { authorization: [`Bearer ${good}`, `Bearer ${good}`] },
  'a quoted token': { authorization: `Bearer "${good}"` },
  'the token in a cookie': { cookie: `access_token=${good}` },
  'the token in another header': { 'x-access-token': good },
};

/** With an outside provider more algorithms are known, and none of these tokens must profit from it. */
describe.each([
  ['with local keys alone', {}],
  ['beside an outside provider', { JWT_JWKS_URI: 'http://127.0.0.1:1/keys' }],
])('a forged or odd token, %s,', (_, env: Record<string, string>) => {
  const service = ServiceUnderTest.use(env);

  it('a good token is told from a forged one', async () => {
    expect((await service.anonymous.get(PATH, { authorization: `Bearer ${withClaims({})}` })).status).toBe(
      404,
    );
    const limits = { scope: 'dept:read', managedDeptIds: [1], dataScope: [{ kind: 'own' }] };
    expect((await service.anonymous.as(withClaims(limits)).get(PATH)).status).toBe(404);
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const answer = await service.anonymous.get(PATH, { authorization: `${scheme} ${good}` });
      expect(answer.status).toBe(404);
    }
  });

  it.each(Object.keys(BEARERS))('a forged token is refused: %s', async (name) => {
    await expectRefused({ authorization: `Bearer ${BEARERS[name]!()}` });
  });

  it.each(Object.keys(HEADERS))('an odd Authorization header is refused: %s', async (name) => {
    await expectRefused(HEADERS[name]!);
  });

  it('a token in the query is refused', async () => {
    expect((await service.anonymous.get(`${PATH}?access_token=${good}&token=${good}`)).status).toBe(401);
  });

  /** 401 for who is nobody; 403 for a tenant or roles that may do nothing here. */
  async function expectRefused(headers: Record<string, string | string[]>): Promise<void> {
    const answers = [
      await service.anonymous.get(PATH, headers),
      await service.anonymous.post('/system/dept-api', {}, headers),
    ];
    for (const answer of answers) {
      expect([401, 403]).toContain(answer.status);
      expect(answer.body.code).toBe(answer.status);
      if (answer.status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  }
});
