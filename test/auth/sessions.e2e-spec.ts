import { UnitOfWork } from '../../src/database/unit-of-work';
import type { SqliteDriver } from '../../src/database/sqlite/sqlite.driver';
import { raiseTreeVersion } from '../../src/journal/tree-lock';
import { aDept, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { holdNext, loseNextAnswer, nextCommits } from '../support/commit-faults';
import { isWaitingForLock } from '../support/lock-waits';
import { ServiceUnderTest } from '../support/service-under-test';
import { onServer } from '../support/test-database';
import { deferred, until } from '../support/until';

const PASSWORD = 'a-long-password';

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

describe('a session', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let admin: ApiClient;
  let username: string;
  let userId: number;

  beforeAll(async () => {
    tenantId = (await aTenant(service.as({ roles: ['superadmin'] }))).tenantId;
    admin = service.as({ tenantId });
    username = 'somebody';
    userId = await aUser(admin, { username });
  });

  const login = (password = PASSWORD) =>
    service.anonymous.post('/auth/login', { tenantId, username, password });
  const signIn = async () => (await login()).body.data as Tokens;
  const refresh = (refreshToken: string) => service.anonymous.post('/auth/refresh', { refreshToken });
  const whoAmI = (accessToken: string) => service.anonymous.as(accessToken).get('/auth/me');

  /** Whether anyone waits in the database for another's write. */
  async function isAwaited(): Promise<boolean> {
    if (onServer) return isWaitingForLock(service.dataSource);
    return (service.dataSource.driver as unknown as SqliteDriver).writers.waiting > 0;
  }

  it('a session begins while its tenant is being written to: after one write at most, never after those that queue', async () => {
    const order: string[] = [];
    const [begun, finish] = [deferred(), deferred()];
    const long = service.app.get(UnitOfWork).run(
      tenantId,
      (unit) => raiseTreeVersion(unit, tenantId),
      () => {
        begun.resolve();
        return finish.promise;
      },
    );
    void long.then(() => order.push('long write'));
    await begun.promise;
    const later = Array.from({ length: 3 }, () => aDept(admin).then(() => order.push('later write')));
    const session = login().then(({ status }) => order.push(`sign-in ${status}`));
    // A server writes other rows meanwhile; SQLite has one writer.
    if (onServer) await session;
    else await until(isAwaited);
    finish.resolve();
    await Promise.all([...later, session]);
    const sequence = ['long write', 'sign-in 200'];
    expect(order.slice(0, 2)).toEqual(onServer ? sequence.reverse() : sequence);
    expect(order.slice(2)).toEqual(['later write', 'later write', 'later write']);
  });

  it('a session does not outlive a change of the password that happens while it begins', async () => {
    const newPassword = 'the-next-password';
    const { reached, letGo } = holdNext(service.dataSource, /^INSERT INTO .tenantry_session/);
    const old = login();
    await reached;
    let isReset = false;
    const reset = admin.put('/system/user-api/password', { userId, newPassword }).finally(() => {
      isReset = true;
    });
    // Either it waits for the sign-in, or nothing holds them apart.
    await until(async () => isReset || (await isAwaited()));
    letGo();
    expect([(await old).status, (await reset).status]).toEqual([200, 200]);
    expect((await whoAmI(((await old).body.data as Tokens).accessToken)).status).toBe(401);
    expect((await login()).status).toBe(401);
    await admin.put('/system/user-api/password', { userId, newPassword: PASSWORD });
  });

  it('a session begins once when the answer to COMMIT is lost', async () => {
    nextCommits(service.dataSource, 'unheard');
    const { accessToken, refreshToken } = await signIn();
    expect((await whoAmI(accessToken)).status).toBe(200);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('a session does not change the account as others read it', async () => {
    const read = () => admin.get(`/system/user-api/${userId}`);
    const before = await read();
    await signIn();
    const after = await read();
    expect([after.headers.etag, after.text]).toEqual([before.headers.etag, before.text]);
  });

  it('a session is ended by no one who knows its id alone, and an id that is none is not found', async () => {
    const { accessToken, refreshToken } = await signIn();
    const sessionId = refreshToken.split('.')[0];
    for (const guess of ['x', 'x'.repeat(86), refreshToken.split('.')[1]!.slice(0, 43)])
      expect((await refresh(`${sessionId}.${guess}`)).refusal.reason).toBe('REFRESH_INVALID');
    expect((await whoAmI(accessToken)).status).toBe(200);
    expect((await refresh(refreshToken)).status).toBe(200);
    for (const odd of ['%00', 'x', `${sessionId}%20`])
      expect((await admin.delete(`/system/user-api/${userId}/sessions/${odd}`)).refusal.reason).toBe(
        'SESSION_NOT_FOUND',
      );
    expect((await refresh(refreshToken)).status).toBe(401);
    expect((await whoAmI(accessToken)).status).toBe(401);
  });

  it('a session goes on when the database does not answer to a refresh', async () => {
    const { refreshToken } = await signIn();
    const isLost = loseNextAnswer(service.dataSource, /^UPDATE .tenantry_session/);
    const first = await refresh(refreshToken);
    expect([isLost(), first.status]).toEqual([true, 200]);
    const second = await refresh((first.body.data as Tokens).refreshToken);
    expect(second.status).toBe(200);
    expect((await whoAmI((second.body.data as Tokens).accessToken)).status).toBe(200);
    expect((await refresh(refreshToken)).refusal.reason).toBe('REFRESH_INVALID');
    expect((await refresh((second.body.data as Tokens).refreshToken)).status).toBe(401);
  });
});
