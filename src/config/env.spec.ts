import { BadEnvironment, parseEnv } from './env';

describe('configuration', () => {
  it('has a default for everything', () => {
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

  it('takes an empty variable as not set', () => {
    expect(parseEnv({ PORT: '', JWT_SECRET: '' }).PORT).toBe(3000);
  });

  it.each([' ', '0x10', '1e3', '-1', '70000', '80.5'])('refuses the port %p', (PORT) => {
    expect(() => parseEnv({ PORT })).toThrow('PORT: must be a port number');
  });

  it('lists every problem in one message, without the secrets themselves', () => {
    const bad = {
      PORT: 'http',
      DATABASE_URL: 'postgres://me:hunter2@db/x',
      JWT_SECRET: 'short-secret',
      TIME_ZONE: 'Mars/Olympus',
      LOG_LEVEL: 'loud',
      ADMIN_PASSWORD: 'tiny',
    };
    expect(() => parseEnv(bad)).toThrow(BadEnvironment);
    try {
      parseEnv(bad);
    } catch (error) {
      const { message } = error as Error;
      for (const name of Object.keys(bad)) expect(message).toContain(name);
      expect(message).not.toMatch(/hunter2|short-secret|tiny/);
    }
  });

  it('wants a secret of its own in production, and hides the documentation there', () => {
    expect(() => parseEnv({ NODE_ENV: 'production' })).toThrow('JWT_SECRET: must be set in production');
    expect(() => parseEnv({ NODE_ENV: 'production', PORT: 'x' })).toThrow(/PORT.*JWT_SECRET/s);
    expect(parseEnv({ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32) }).DOCS).toBe('off');
  });
});
