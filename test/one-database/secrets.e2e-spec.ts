import { createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign, verify, type SignOptions } from 'jsonwebtoken';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { runCli } from '../support/run-cli';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';
const OLD = 'the-old-secret-of-this-installation';
const NEW = 'the-new-secret-of-this-installation';

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** As another part of the platform signs it, which has the same secret. */
function tokenOf(secret: string, options: SignOptions = {}): string {
  const claims = { sub: 'x', tenantId: '000000', username: 'x', roles: ['member'] };
  const usual = { issuer: 'tenantry', audience: 'tenantry', expiresIn: 60 };
  return sign(claims, createSecretKey(secret, 'utf8'), { ...usual, ...options });
}

describe('secrets', () => {
  let database: ThrowAwayDatabase;

  beforeAll(async () => {
    database = await emptyDatabase();
  });
  afterAll(() => database.drop());

  it('the secret changes step by step, and no replica refuses a token of one that is a step ahead or behind', async () => {
    const steps = [
      { JWT_SECRET: OLD },
      { JWT_SECRET: OLD, JWT_SECRET_PREVIOUS: NEW },
      { JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD },
      { JWT_SECRET: NEW },
    ];
    const others = [
      [200, 401],
      [200, 200],
      [200, 200],
      [401, 200],
    ];
    let tokens: Tokens | undefined;
    for (const [step, env] of steps.entries()) {
      const service = await ServiceUnderTest.on(database, env);
      const { anonymous } = service;
      // Refresh tokens are in the database. What is given for them is signed with the secret alone, never with the one beside it.
      const answer = tokens
        ? await anonymous.post('/auth/refresh', { refreshToken: tokens.refreshToken })
        : await anonymous.post('/auth/login', { username: 'admin', password: 'admin-password' });
      const before = tokens?.accessToken;
      tokens = answer.body.data as Tokens;
      expect(() => verify(tokens!.accessToken, env.JWT_SECRET)).not.toThrow();
      const good = [tokens.accessToken, ...(before === undefined ? [] : [before])];
      for (const token of good) expect((await anonymous.as(token).get('/auth/me')).status).toBe(200);
      for (const [index, secret] of [OLD, NEW].entries()) {
        const api = anonymous.as(tokenOf(secret));
        // The second time from the cache of verified tokens.
        for (const _ of ['first', 'second'])
          expect([step, secret, (await api.get(PATH)).status]).toEqual([step, secret, others[step]![index]]);
      }
      await service.leave();
    }
  });

  it('the previous secret lets no more through than the secret itself', async () => {
    const service = await ServiceUnderTest.on(database, { JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD });
    const refusals = [];
    const odd: SignOptions[] = [{ expiresIn: -1 }, { issuer: 'somebody' }, { algorithm: 'HS512' }];
    for (const options of odd)
      refusals.push((await service.anonymous.as(tokenOf(OLD, options)).get(PATH)).refusal.reason);
    expect(refusals).toEqual(['TOKEN_EXPIRED', 'TOKEN_INVALID', 'TOKEN_INVALID']);
    await service.leave();
  });

  it('a command reads the address of the database from a file, and refuses two of them', async () => {
    const DATABASE_URL_FILE = join(database.folder, 'address');
    writeFileSync(DATABASE_URL_FILE, `${database.url}\n`);
    const both = await runCli(database, ['tenant:list'], '', { DATABASE_URL_FILE });
    expect([both.code, both.err]).toEqual([
      1,
      'error: DATABASE_URL_FILE: is set, and DATABASE_URL too; set one of them\n',
    ]);
    const one = await runCli(database, ['tenant:list'], '', { DATABASE_URL: '', DATABASE_URL_FILE });
    expect([one.code, one.out]).toEqual([0, expect.stringContaining('000000')]);
  });
});
