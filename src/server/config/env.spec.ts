import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from './env';

describe('configuration', () => {
  it('every setting has a default', () => {
    expect(parseEnv({})).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 3000,
      DATABASE_URL: { kind: 'sqlite', path: './data/tenantry.sqlite' },
      TIME_ZONE: 'Asia/Shanghai',
      HTTP_STATUS_MODE: 'match-code',
      LOG_LEVEL: 'info',
      DOCS: 'on',
    });
  });

  it('an empty variable is taken as not set', () => {
    expect(parseEnv({ PORT: '', JWT_SECRET: '' }).PORT).toBe(3000);
  });

  it.each([' ', '0x10', '1e3', '-1', '70000', '80.5'])('refuses the port %p', (PORT) => {
    expect(() => parseEnv({ PORT })).toThrow('PORT: must be a port number');
  });

  it.each([
    ['NODE_ENV', 'staging', 'must be one of development, production, test'],
    ['WORKERS', '0', 'must be auto or a number from 1 to 256'],
    ['WORKERS', 'all', 'must be auto or a number from 1 to 256'],
    ['WORKERS', '2', 'must be 1 with SQLite: a SQLite file has one writer'],
    ['LOCAL_ACCOUNTS', 'yes', 'must be one of on, off'],
    ['RATE_LIMIT_USER', '0', 'must be a number of requests'],
    ['RATE_LIMIT_LOGIN_ACCOUNT', '1000000000', 'must be a number of requests'],
    ['JWT_JWKS_URI', 'ftp://somewhere', 'must be an http(s) address'],
    ['JWT_JWKS_URI', 'somewhere', 'must be an http(s) address'],
    ['REDIS_URL', 'http://127.0.0.1', 'must be a redis:// address'],
    ['REDIS_URL', 'redis:foo', 'must be a redis:// address'],
    ['CORS_ORIGINS', '*', 'must be a list of exact origins'],
    ['CORS_ORIGINS', 'https://app.example/', 'must be a list of exact origins'],
    ['CORS_ORIGINS', 'https://app.example,,', 'must be a list of exact origins'],
    ['CORS_ORIGINS', 'null', 'must be a list of exact origins'],
    ['TRUST_PROXY', 'true', 'must be a number of proxies, or addresses'],
    ['TRUST_PROXY', '-1', 'must be a number of proxies, or addresses'],
    ['TRUST_PROXY', '10.0.0.0/33', 'must be a number of proxies, or addresses'],
    ['TRUST_PROXY', '0.0.0.0/0', 'must be a number of proxies, or addresses'],
    ['TRUST_PROXY', '10.0.0.1,', 'must be a number of proxies, or addresses'],
    ['TRUST_PROXY', 'proxy.example', 'must be a number of proxies, or addresses'],
    ['ADMIN_PASSWORD', 'x'.repeat(129), 'must be 8 to 128 characters long'],
  ])('a setting is refused: %s=%s', (name, value, problem) => {
    expect(() => parseEnv({ [name]: value })).toThrow(`${name}: ${problem}`);
  });

  it('settings that are right are taken', () => {
    const right = {
      PORT: '0',
      REDIS_URL: 'rediss://cache:6380',
      JWT_JWKS_URI: 'https://id.example/keys',
      DOCS: 'off',
    };
    expect(parseEnv(right)).toMatchObject({ ...right, PORT: 0 });
    expect(parseEnv({}).REDIS_URL).toBeUndefined();
    expect(parseEnv({}).TRUST_PROXY).toBe(0);
    expect(parseEnv({ TRUST_PROXY: '2' }).TRUST_PROXY).toBe(2);
    expect(parseEnv({ TRUST_PROXY: 'loopback, 10.0.0.0/8,fd00::/8, ::1' }).TRUST_PROXY).toBe(
      'loopback,10.0.0.0/8,fd00::/8,::1',
    );
    const DATABASE_URL = 'mysql://me:pw@db/tenantry';
    expect(parseEnv({ DATABASE_URL })).toMatchObject({ WORKERS: 1, MAX_IN_WORK: 16 });
    expect(parseEnv({ DATABASE_URL, WORKERS: '8' })).toMatchObject({ WORKERS: 8, MAX_IN_WORK: 32 });
    expect(parseEnv({ DATABASE_URL, WORKERS: 'auto' }).WORKERS).toBe(availableParallelism());
    expect(parseEnv({}).CORS_ORIGINS).toEqual([]);
    expect(parseEnv({ CORS_ORIGINS: 'https://a.example, http://b.example:8080' }).CORS_ORIGINS).toEqual([
      'https://a.example',
      'http://b.example:8080',
    ]);
    expect(parseEnv({ REDIS_URL: ' REDISS://:pw@cache:6380/2' }).REDIS_URL).toBe('rediss://:pw@cache:6380/2');
  });

  it('a bad environment lists every problem in one message, without the secrets themselves', () => {
    const bad = {
      PORT: 'http',
      DATABASE_URL: 'oracle://me:hunter2@db/x',
      JWT_SECRET: 'short-secret',
      TIME_ZONE: 'Mars/Olympus',
      LOG_LEVEL: 'loud',
      ADMIN_PASSWORD: 'tiny',
    };
    expect(() => parseEnv(bad)).toThrow(/^The configuration is not valid:\n/);
    try {
      parseEnv(bad);
    } catch (error) {
      const { message } = error as Error;
      for (const name of Object.keys(bad)) expect(message).toContain(name);
      expect(message).not.toMatch(/hunter2|short-secret|tiny/);
    }
  });

  describe('with secrets in files', () => {
    let folder: string;
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'tenantry-secrets-'));
    });
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    it('settings are read from files, without the newline at their ends', () => {
      const env = parseEnv({
        NODE_ENV: 'production',
        DATABASE_URL_FILE: file('database', 'mysql://me:secret@db/org\n'),
        JWT_SECRET_FILE: file('secret', `${'s'.repeat(32)}\r\n`),
        JWT_SECRET_PREVIOUS_FILE: file('previous', 'p'.repeat(32)),
        ADMIN_PASSWORD_FILE: file('password', ' with spaces \n'),
        REDIS_URL_FILE: file('redis', 'redis://cache:6379\n'),
      });
      expect(env).toMatchObject({
        DATABASE_URL: { kind: 'mysql', host: 'db', password: 'secret' },
        JWT_SECRET: 's'.repeat(32),
        JWT_SECRET_PREVIOUS: 'p'.repeat(32),
        ADMIN_PASSWORD: ' with spaces ',
        REDIS_URL: 'redis://cache:6379',
      });
    });

    it('a file that is missing, empty, or beside the setting itself is refused, and all of them are named', () => {
      const bad = {
        NODE_ENV: 'production',
        JWT_SECRET_FILE: join(folder, 'nowhere'),
        ADMIN_PASSWORD: 'in-the-open',
        ADMIN_PASSWORD_FILE: file('password', 'in-the-file'),
        REDIS_URL_FILE: file('empty', '\n'),
        DATABASE_URL_FILE: file('wrong', 'oracle://me:hunter2@db/x'),
      };
      expect(() => parseEnv(bad)).toThrow(/DATABASE_URL: must be sqlite:/);
      try {
        parseEnv(bad);
      } catch (error) {
        const lines = (error as Error).message.split('\n').map((line) => line.trim());
        expect(lines).toContain('ADMIN_PASSWORD_FILE: is set, and ADMIN_PASSWORD too; set one of them');
        expect(lines).toContain(`REDIS_URL_FILE: the file ${bad.REDIS_URL_FILE} is empty`);
        const missing = `ENOENT: no such file or directory, open '${bad.JWT_SECRET_FILE}'`;
        expect(lines).toContain(`JWT_SECRET_FILE: the file cannot be read (${missing})`);
        expect(lines.join()).not.toMatch(/hunter2|in-the-|JWT_SECRET: must/);
      }
    });
  });

  it('production wants a secret of its own, and hides the documentation', () => {
    expect(() => parseEnv({ NODE_ENV: 'production' })).toThrow('JWT_SECRET: must be set in production');
    expect(() => parseEnv({ NODE_ENV: 'production', PORT: 'x' })).toThrow(/PORT.*JWT_SECRET/s);
    expect(parseEnv({ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32) }).DOCS).toBe('off');
  });
});
