import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign, type SignOptions } from 'jsonwebtoken';
import { JwksKeys } from '../../src/server/auth/outside-provider';
import { mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const PATH = '/system/dept-api/1';

/** An identity provider on loopback. */
class Provider {
  readonly keys = new Map<
    string,
    { publicKey: KeyObject; privateKey: KeyObject; algorithm: 'RS256' | 'ES256' }
  >();
  asked = 0;
  down = false;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Provider> {
    const server = createServer();
    const provider = new Provider(server);
    server.on('request', (_, response) => {
      provider.asked += 1;
      if (provider.down) response.writeHead(500).end();
      else response.end(JSON.stringify(provider.set()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/keys`;
  }

  set(): object {
    const keys = [...this.keys].map(([kid, { publicKey, algorithm }]) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg: algorithm,
      use: 'sig',
    }));
    return {
      keys: [
        ...keys,
        { kty: 'oct', kid: 'symmetric', k: 'c2VjcmV0' },
        { kty: 'OKP', crv: 'Ed25519', kid: 'other', x: 'AA' },
        { kty: 'RSA', kid: 'broken', n: 'AQAB' },
      ],
    };
  }

  add(kid: string, algorithm: 'RS256' | 'ES256' = 'RS256'): void {
    const pair =
      algorithm === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.keys.set(kid, { ...pair, algorithm });
  }

  token(kid: string, claims: object = {}, options: SignOptions = {}): string {
    const { privateKey, algorithm } = this.keys.get(kid)!;
    const all = {
      sub: 'account:1',
      org: { code: '000000' },
      realm_access: { roles: ['tenant_admin'] },
      name: 'outsider',
      ...claims,
    };
    return sign(all, privateKey, {
      algorithm,
      keyid: kid,
      issuer: 'tenantry',
      audience: 'tenantry',
      expiresIn: 600,
      ...options,
    });
  }

  stop(): void {
    this.server.close();
  }
}

const CLAIMS = {
  JWT_TENANT_CLAIM: 'org.code',
  JWT_ROLES_CLAIM: 'realm_access.roles',
  JWT_USERNAME_CLAIM: 'name',
};

describe('an outside identity provider', () => {
  let provider: Provider;
  let service: ServiceUnderTest;

  beforeAll(async () => {
    provider = await Provider.start();
    provider.add('rsa');
    provider.add('ec', 'ES256');
    service = await ServiceUnderTest.start({ JWT_JWKS_URI: provider.uri, ...CLAIMS });
  });
  afterAll(async () => {
    await service.stop();
    provider.stop();
  });

  const status = async (token: string) => (await service.anonymous.as(token).get(PATH)).status;

  it('an outside provider is trusted beside local accounts, for RS256 and ES256, under the configured claims', async () => {
    for (const kid of ['rsa', 'ec']) {
      const me = await service.anonymous.as(provider.token(kid)).get('/auth/me');
      expect(me.body.data).toMatchObject({
        userId: null,
        username: 'outsider',
        tenantId: '000000',
        roles: ['tenant_admin'],
      });
    }
    expect(await status(mintToken())).toBe(404);
  });

  it('an outside provider limits its tokens to permissions, and names of OpenID Connect limit nothing', async () => {
    const told = async (claims: object) => {
      const { status, body } = await service.anonymous.as(provider.token('rsa', claims)).get('/auth/me');
      return status === 200 ? (body.data as { permissions: string[] }).permissions.join(' ') : status;
    };
    const all = await told({});
    expect(all).toMatch(/^dept:read dept:write /);
    const openid = 'openid profile email address phone offline_access';
    const scopes: [unknown, unknown][] = [
      ['openid', all],
      [openid, all],
      [openid.split(' '), all],
      [`${openid} dept:read`, 'dept:read'],
      ['change:read  dept:read made:up', 'dept:read change:read'],
      [['dept:read', 'quota:read'], 'dept:read quota:read'],
      // It names others, but not us; and what names nothing allows nothing.
      ...['orders:write openid', 'Openid', '', ' ', []].map((scope): [unknown, unknown] => [scope, '']),
      ...[5, true, {}, null, [5], [['dept:read']]].map((scope): [unknown, unknown] => [scope, 401]),
    ];
    for (const [scope, expected] of scopes) expect([scope, await told({ scope })]).toEqual([scope, expected]);
    // The service of this test reads `scope`; other claims of that kind are not looked at.
    expect(await told({ scp: 'dept:read', permissions: ['dept:read'] })).toBe(all);
  });

  it('an outside provider may name another claim for permissions, and tells managed departments and data scope', async () => {
    const other = await ServiceUnderTest.on(service.database, {
      JWT_JWKS_URI: provider.uri,
      ...CLAIMS,
      JWT_SCOPE_CLAIM: 'tenantry.allows',
    });
    const dataScope = [{ kind: 'depts', deptIds: [3], below: false }];
    const part = { managedDeptIds: [3, 4], dataScope };
    const token = provider.token('ec', { scope: 'orders:write', tenantry: { allows: 'dept:read' }, ...part });
    const me = (await other.anonymous.as(token).get('/auth/me')).body.data;
    expect(me).toMatchObject({ permissions: ['dept:read'], ...part });
    for (const odd of [{ managedDeptIds: ['3'] }, { dataScope: 'all' }, { managedDeptIds: null }])
      expect((await other.anonymous.as(provider.token('rsa', odd)).get('/auth/me')).status).toBe(401);
    await other.leave();
  });

  it('an outside provider cannot be impersonated', async () => {
    const rsa = provider.keys.get('rsa')!;
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const good = {
      sub: 'x',
      org: { code: '000000' },
      realm_access: { roles: ['tenant_admin'] },
      name: 'x',
      iss: 'tenantry',
      aud: 'tenantry',
      exp: Math.floor(Date.now() / 1000) + 600,
    };
    const forged: Record<string, string> = {
      'another key under a known id': sign(good, stranger, { algorithm: 'RS256', keyid: 'rsa' }),
      'an extension that must be understood': sign(good, rsa.privateKey, {
        header: { alg: 'RS256', kid: 'rsa', crit: ['x'] },
      }),
      'no key id': sign(good, rsa.privateKey, { algorithm: 'RS256' }),
      'an unknown key id': sign(good, rsa.privateKey, { algorithm: 'RS256', keyid: 'nobody' }),
      'RS256 key asked to check ES256': sign(good, provider.keys.get('ec')!.privateKey, {
        algorithm: 'ES256',
        keyid: 'rsa',
      }),
      PS256: sign(good, rsa.privateKey, { algorithm: 'PS256', keyid: 'rsa' }),
      RS512: sign(good, rsa.privateKey, { algorithm: 'RS512', keyid: 'rsa' }),
      'HS256 with the public key': sign(good, createSecretKey(pem.toString(), 'utf8'), {
        algorithm: 'HS256',
        keyid: 'rsa',
      }),
      'a symmetric key that was published': sign(good, createSecretKey('secret', 'utf8'), {
        algorithm: 'HS256',
        keyid: 'symmetric',
      }),
      'another issuer': provider.token('rsa', {}, { issuer: 'somebody' }),
      'another audience': provider.token('rsa', {}, { audience: 'somebody' }),
      'no tenant': provider.token('rsa', { org: {} }),
      'a tenant that is inherited': provider.token('rsa', { org: { __proto__: { code: '000000' } } }),
      'roles of the wrong type': provider.token('rsa', { realm_access: { roles: 'tenant_admin' } }),
      'local claim names': provider.token('rsa', { org: undefined, tenantId: '000000' }),
      expired: provider.token('rsa', {}, { expiresIn: -1 }),
      'no subject': provider.token('rsa', { sub: '' }),
    };
    for (const [name, token] of Object.entries(forged))
      expect([name, await status(token)]).toEqual([name, 401]);
  });

  it('an outside provider may rotate its keys under load: no valid token is refused', async () => {
    const rotating = await Provider.start();
    rotating.add('old');
    const other = await ServiceUnderTest.on(service.database, { JWT_JWKS_URI: rotating.uri, ...CLAIMS });
    const seen: number[] = [];
    const progress = { running: true };
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (progress.running) {
          const newest = [...rotating.keys.keys()].at(-1)!;
          seen.push((await other.anonymous.as(rotating.token(newest)).get(PATH)).status);
        }
      }),
    );
    await until(() => seen.length >= 100);
    rotating.add('new', 'ES256');
    await until(() => seen.length >= 200);
    progress.running = false;
    await load;
    expect(new Set(seen)).toEqual(new Set([404]));
    expect(rotating.asked).toBe(2);
    await other.leave();
    rotating.stop();
  });

  it('an outside provider alone closes local sign-in and local tokens', async () => {
    const alone = await ServiceUnderTest.on(service.database, {
      JWT_JWKS_URI: provider.uri,
      LOCAL_ACCOUNTS: 'off',
      ...CLAIMS,
    });
    expect((await alone.anonymous.as(provider.token('rsa')).get(PATH)).status).toBe(404);
    expect((await alone.as().get(PATH)).status).toBe(401);
    const login = await alone.anonymous.post('/auth/login', {
      username: 'admin',
      password: 'admin-password',
    });
    expect(login.refusal.reason).toBe('ROUTE_NOT_FOUND');
    await alone.leave();
  });
});

describe('published keys, by the clock', () => {
  let provider: Provider;
  let now = 0;
  let keys: JwksKeys;

  beforeEach(async () => {
    provider = await Provider.start();
    provider.add('a');
    now = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    keys = new JwksKeys(provider.uri);
    expect(await keys.find('a', 'RS256')).not.toBeNull();
    provider.asked = 0;
  });
  afterEach(() => {
    jest.restoreAllMocks();
    provider.stop();
  });

  it('published keys that are unknown are asked for once in 30 s, however many are made up', async () => {
    now = 31_000;
    await keys.find('a', 'RS256');
    provider.asked = 0;
    for (let n = 0; n < 1000; n += 1) await keys.find(`made-up-${n}`, 'RS256');
    expect(provider.asked).toBeLessThanOrEqual(1);
    now += 30_001;
    await Promise.all(Array.from({ length: 100 }, (_, n) => keys.find(`more-${n}`, 'RS256')));
    expect(provider.asked).toBeLessThanOrEqual(3);
  });

  it('published keys that were withdrawn are dead within a minute', async () => {
    provider.keys.clear();
    provider.add('b');
    for (now = 1000; now <= 60_000; now += 1000) await keys.find('a', 'RS256');
    expect(await keys.find('a', 'RS256')).toBeNull();
    expect(await keys.find('b', 'RS256')).not.toBeNull();
  });

  it('published keys stay good for ten minutes while the provider is away, and no longer', async () => {
    provider.down = true;
    for (const [at, known] of [
      [60_000, true],
      [590_000, true],
      [601_000, false],
    ] as const) {
      now = at;
      expect([at, (await keys.find('a', 'RS256')) !== null]).toEqual([at, known]);
    }
    provider.down = false;
    now += 31_000;
    expect(await keys.find('a', 'RS256')).not.toBeNull();
  });

  it('published keys are not asked for with every token while the provider is away', async () => {
    provider.down = true;
    const fresh = new JwksKeys(provider.uri);
    for (let n = 0; n < 100; n += 1) expect(await fresh.find('a', 'RS256')).toBeNull();
    expect(provider.asked).toBeLessThanOrEqual(2);
  });
});
