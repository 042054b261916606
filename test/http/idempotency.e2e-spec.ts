import { Cleanup } from '../../src/database/cleanup';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { TenantryDept } from '../../src/dept/dept.entity';
import { TenantryCommit } from '../../src/database/commit-log';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { aDept, type ApiClient, aTenant } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { times } from '../support/long-run';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const DEPTS = '/system/dept-api';
const DAY_MS = 24 * 60 * 60 * 1000;
const MANY = times(1000, 150);
const withKey = (key: string) => ({ 'idempotency-key': key });

describe('a POST with an Idempotency-Key', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({}, clock);
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  const depts = (where: object = {}) =>
    service.dataSource.manager.countBy(TenantryDept, { tenantId, ...where });

  it('an Idempotency-Key is done once, and its repeats get the same answer, marked as such', async () => {
    const first = await api.post(DEPTS, { deptName: 'a' }, withKey('k1'));
    const again = await api.post(DEPTS, { deptName: 'a' }, withKey('k1'));
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect([again.text, again.headers.location]).toEqual([first.text, first.headers.location]);
    expect(await depts()).toBe(1);
  });

  it('an Idempotency-Key makes every kind of resource once', async () => {
    const bodies = {
      '/system/tenant-api': { tenantName: 'x' },
      '/system/user-api': { username: 'x', password: 'a-long-password' },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const [first, again] = [
        await api.post(path, body, withKey('k')),
        await api.post(path, body, withKey('k')),
      ];
      expect([path, again.status, again.headers.location]).toEqual([path, 200, first.headers.location]);
      expect((await api.get(again.headers.location!)).status).toBe(200);
    }
    expect(await service.dataSource.manager.countBy(TenantryTenant, { tenantParent: tenantId })).toBe(1);
    expect(await service.dataSource.manager.countBy(AccountEntity, { tenantId })).toBe(1);
  });

  it('an Idempotency-Key with another body is refused, and nothing is done', async () => {
    await api.post(DEPTS, { deptName: 'a' }, withKey('k'));
    expectRefused(await api.post(DEPTS, { deptName: 'b' }, withKey('k')), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await depts()).toBe(1);
  });

  it('an Idempotency-Key belongs to a tenant, a user and a route', async () => {
    await api.post(DEPTS, { deptName: 'a', tenantName: 'a' }, withKey('k'));
    const others = [
      service.as({ tenantId, username: 'other' }).post(DEPTS, { deptName: 'b' }, withKey('k')),
      service.as().post(DEPTS, { deptName: 'b' }, withKey('k')),
      api.post('/system/tenant-api', { tenantName: 'b' }, withKey('k')),
      api.post(DEPTS, { deptName: 'b' }, withKey('K')),
    ];
    for (const answer of await Promise.all(others)) {
      expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([200, undefined]);
    }
  });

  it('an Idempotency-Key is forgotten after a day, also when nobody has cleaned up', async () => {
    await api.post(DEPTS, { deptName: 'a' }, withKey('k'));
    clock.pass(DAY_MS - 60_000);
    expect((await api.post(DEPTS, { deptName: 'a' }, withKey('k'))).headers['idempotent-replayed']).toBe(
      'true',
    );
    clock.pass(120_000);
    const later = await api.post(DEPTS, { deptName: 'b' }, withKey('k'));
    expect([later.status, later.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(await depts()).toBe(2);
    clock.pass(DAY_MS + 1000);
    await service.app.get(Cleanup).run();
    expect(await service.dataSource.manager.count(TenantryCommit)).toBe(0);
    clock.set(new Date().toISOString());
  });

  it('an Idempotency-Key that was refused may be repeated: nothing was done', async () => {
    const parentId = await aDept(api, { status: '1' });
    expect((await api.post(DEPTS, { parentId }, withKey('k'))).refusal.reason).toBe('PARENT_DISABLED');
    await api.put(DEPTS, { deptId: parentId, status: '0' });
    expect((await api.post(DEPTS, { parentId }, withKey('k'))).status).toBe(200);
  });

  it('a repeated Idempotency-Key gives the first answer without doing its work, also when that could not be done any more', async () => {
    const child = await aTenant(api);
    const body = {
      username: 'x',
      password: 'a-long-password',
      tenantId: child.tenantId,
      roles: ['tenant_admin'],
    };
    const first = await api.post('/system/user-api', body, withKey('k'));
    const hashed = jest.spyOn(service.app.get(PasswordHasher), 'hash');
    const repeats = await Promise.all(
      Array.from({ length: 20 }, () => api.post('/system/user-api', body, withKey('k'))),
    );
    expect(hashed).not.toHaveBeenCalled();
    hashed.mockRestore();
    expect(new Set(repeats.map(({ status, headers }) => `${status} ${headers.location ?? ''}`))).toEqual(
      new Set([`200 ${first.headers.location ?? ''}`]),
    );
    await api.delete(`/system/tenant-api/${child.id}`);
    expect((await api.post('/system/user-api', body, withKey('k'))).headers['idempotent-replayed']).toBe(
      'true',
    );
  });

  it('an Idempotency-Key that is none is refused', async () => {
    for (const key of ['', 'x'.repeat(256), 'schl\u00fcssel']) {
      const answer = await api.post(DEPTS, {}, withKey(Buffer.from(key, 'latin1').toString('latin1')));
      expectInvalid(answer, 'Idempotency-Key', key);
    }
    expect((await api.post(DEPTS, {}, withKey('x'.repeat(255)))).status).toBe(200);
  });

  it('an Idempotency-Key and its body are kept only as hashes that tell nothing', async () => {
    await api.post('/system/user-api', { username: 'y', password: 'a-long-password' }, withKey('secret-key'));
    const units = JSON.stringify(await service.dataSource.manager.find(TenantryCommit));
    expect(units).not.toMatch(/secret-key|a-long-password/);
  });

  describe('over three processes', () => {
    let children: ChildService[] = [];
    const flag = () => join(service.database.folder, 'die');

    beforeAll(async () => {
      const hook = join(__dirname, '..', 'support', 'kill-after-commit.js');
      const env = { NODE_OPTIONS: `--require ${hook}`, DIE_AFTER_COMMIT: flag() };
      children = await Promise.all([1, 2, 3].map(() => ChildService.start(service.database, env)));
    });
    afterAll(() => Promise.all(children.map((child) => child.stop('SIGKILL'))));

    it(`${MANY} requests with one Idempotency-Key make one department, over three processes`, async () => {
      const body = { deptName: 'once' };
      const answers = await Promise.all(
        Array.from({ length: MANY }, (_, n) =>
          children[n % 3]!.as({ tenantId }).post(DEPTS, body, withKey('k')),
        ),
      );
      const seen = new Set(answers.map(({ status, headers }) => `${status} ${headers.location ?? ''}`));
      expect([...seen]).toHaveLength(1);
      expect(answers.filter(({ headers }) => !headers['idempotent-replayed'])).toHaveLength(1);
      expect(await depts()).toBe(1);
    });

    it('an Idempotency-Key makes one department though the process dies between the commit and the answer', async () => {
      const [doomed, other] = children as [ChildService, ChildService];
      writeFileSync(flag(), '');
      const lost = doomed.as({ tenantId }).post(DEPTS, { deptName: 'once' }, withKey('k'));
      await expect(lost).rejects.toThrow();
      expect(await doomed.ended()).toBeNull();
      rmSync(flag());
      expect(await depts()).toBe(1);
      const again = await other.as({ tenantId }).post(DEPTS, { deptName: 'once' }, withKey('k'));
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
      expect((await api.get(again.headers.location!)).body.data).toMatchObject({ deptName: 'once' });
      expect(await depts()).toBe(1);
    });
  });
});
