import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { aTenant, aUser, type Answer, type ApiClient } from '../../src/server/testing';
import { Ceilings } from '../../src/tenant/ceilings';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { HandClock } from '../support/hand-clock';
import { times } from '../support/long-run';
import { outcome, QUOTAS, use } from '../support/quotas';
import { expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const TENANTS = '/system/tenant-api';
const ENTITLEMENTS = '/system/entitlement-api';
const DAY_MS = 24 * 60 * 60 * 1000;

describe('what a tenant may do', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ TIME_ZONE: 'Asia/Shanghai' }, clock);
  let root: ApiClient;
  let made: { readonly id: string; readonly tenantId: string };
  let api: ApiClient;

  beforeAll(() => {
    clock.set('2030-03-01T12:00:00Z');
  });
  beforeEach(async () => {
    root = service.as();
    made = await aTenant(root, {
      startTime: '2030-01-01',
      endTime: '2030-03-31',
      accountCount: 5,
      packageBo: { menuIds: '100, 1,101,1' },
      quotaBo: { riskReport: 10 },
      ruleBo: { modelZr: 'x' },
    });
    api = service.as({ tenantId: made.tenantId });
  });

  const change = (fields: object) => root.patch(`${TENANTS}/${made.id}`, fields);

  it('an entitlement is told in one answer, to every role', async () => {
    await aUser(api);
    await use(api, 'k', 3);
    const member = service.as({ tenantId: made.tenantId, roles: ['member'] });
    const { quotas, rules, ...told } = (await member.get(ENTITLEMENTS)).body.data as Record<string, unknown>;
    expect(told).toEqual({
      ...{ tenantId: made.tenantId, state: 'ACTIVE', startTime: '2030-01-01', endTime: '2030-03-31' },
      ...{ daysLeft: 30, menuIds: [100, 1, 101], accounts: { limit: 5, used: 1 } },
    });
    expect(quotas).toEqual((await api.get(QUOTAS)).body.data);
    expect(rules).toEqual(((await root.get(`${TENANTS}/${made.id}`)).body.data as { ruleBo: object }).ruleBo);
    expect((await api.get(ENTITLEMENTS)).body.data).toMatchObject(told);
  });

  it('an entitlement counts the days that are left, of an open period none, and tells those above when it is over', async () => {
    const of = async () => {
      const { state, daysLeft } = (await root.get(`${ENTITLEMENTS}/${made.id}`)).body.data as {
        state: string;
        daysLeft: number | null;
      };
      return [state, daysLeft];
    };
    // In Shanghai the day begins at 16:00 UTC.
    clock.set('2030-03-30T15:59:00Z');
    expect(await of()).toEqual(['ACTIVE', 1]);
    clock.set('2030-03-30T16:01:00Z');
    expect(await of()).toEqual(['ACTIVE', 0]);
    clock.set('2030-03-31T16:01:00Z');
    expect(await of()).toEqual(['EXPIRED', 0]);
    expectRefused(await api.get(ENTITLEMENTS), 403, 'TENANT_EXPIRED');
    expectRefused(await use(api, 'k'), 403, 'TENANT_EXPIRED');
    clock.set('2029-12-31T12:00:00Z');
    expect(await of()).toEqual(['NOT_STARTED', 90]);
    await change({ startTime: null, endTime: null, status: '1' });
    expect(await of()).toEqual(['DISABLED', null]);
    clock.set('2030-03-01T12:00:00Z');
  });

  it('an entitlement has a tag that changes when any of it does', async () => {
    let tag = (await api.get(ENTITLEMENTS)).headers.etag!;
    const isNew = async (): Promise<boolean> => {
      const { status, headers } = await api.get(ENTITLEMENTS, { 'if-none-match': tag });
      expect(headers.etag === tag).toBe(status === 304);
      tag = headers.etag!;
      return status === 200;
    };
    expect(await isNew()).toBe(false);
    const changes: (() => unknown)[] = [
      () => use(api, 'k'),
      () => change({ quotaBo: { merchant: 1 } }),
      () => change({ packageBo: { menuIds: '1' } }),
      () => change({ ruleBo: { modelPf: 'y' } }),
      () => change({ endTime: '2030-04-30' }),
      () => change({ startTime: '2030-02-01' }),
      () => change({ accountCount: 6 }),
      () => aUser(api),
      () => {
        clock.pass(DAY_MS);
      },
    ];
    for (const each of changes) {
      await each();
      expect([String(each), await isNew()]).toEqual([String(each), true]);
      expect(await isNew()).toBe(false);
    }
    clock.set('2030-03-01T12:00:00Z');
  });
});

describe('ceilings', () => {
  const settings = { PACKAGE_CEILING: 'on', QUOTA_CEILING: 'on' };
  const service = ServiceUnderTest.use(settings);
  /** Another process on the same database, for races. */
  let other: ServiceUnderTest;
  let api: ApiClient;
  let parent: { readonly id: string; readonly tenantId: string };

  beforeAll(async () => {
    other = await ServiceUnderTest.on(service.database, settings);
  });
  afterAll(() => other.leave());
  beforeEach(async () => {
    api = service.as();
    parent = await aTenant(api, licensed('1,2,3', 10));
  });
  afterEach(async () => {
    const doctor = new ServiceDoctor(service.dataSource, new Ceilings({ packages: true, quotas: true }));
    expect(await doctor.examine()).toMatchObject({ findings: [] });
  });

  const licensed = (menuIds: string, riskReport: number) => ({
    packageBo: { menuIds },
    quotaBo: { riskReport },
  });
  const create = (fields: object, tenantParent = parent.tenantId) =>
    api.post(TENANTS, { tenantName: 'child', tenantParent, ...fields });
  const child = (menuIds: string, riskReport: number) =>
    aTenant(api, { tenantParent: parent.tenantId, ...licensed(menuIds, riskReport) });
  const patch = (id: string, fields: object) => api.patch(`${TENANTS}/${id}`, fields);
  const expectMenus = (answer: Answer, ids: number[]) => {
    expectRefused(answer, 409, 'PACKAGE_EXCEEDS_PARENT', { ids });
  };
  const expectQuota = (answer: Answer) => {
    expectRefused(answer, 409, 'QUOTA_EXCEEDS_PARENT');
    expect(answer.refusal.fields?.map(({ field }) => field)).toEqual(['quotaBo.riskReport']);
  };

  it('ceilings hold when a tenant is made', async () => {
    expectMenus(await create(licensed('5,2,4', 0)), [4, 5]);
    expectQuota(await create(licensed('', 11)));
    expectQuota(await create(licensed('', -1)));
    await child('1,2,3', 6);
    expectQuota(await create(licensed('', 5)));
    expect(outcome(await create(licensed('2', 4)))).toBe(200);
    // The platform itself has no limit.
    expect(outcome(await create(licensed('7', -1), '000000'))).toBe(200);
  });

  it('ceilings hold when a tenant is changed, as a whole or in part', async () => {
    const { id } = await child('1', 5);
    await child('', 3);
    expectMenus(await patch(id, { packageBo: { menuIds: '1,4' } }), [4]);
    expectQuota(await patch(id, { quotaBo: { riskReport: 8 } }));
    expectQuota(await api.put(TENANTS, { id, tenantName: 'x', ...licensed('1', 8) }));
    expectMenus(await api.put(TENANTS, { id, tenantName: 'x', ...licensed('9', 7) }), [9]);
    expect(outcome(await patch(id, { quotaBo: { riskReport: 7 }, packageBo: { menuIds: '3,1' } }))).toBe(200);
    expect(outcome(await patch(id, { tenantName: 'y' }))).toBe(200);
  });

  it('ceilings hold when something is taken from a parent', async () => {
    const first = await child('1,2', 5);
    await child('2', 3);
    expectMenus(await patch(parent.id, { packageBo: { menuIds: '3' } }), [1, 2]);
    expectQuota(await patch(parent.id, { quotaBo: { riskReport: 7 } }));
    expect(outcome(await patch(parent.id, licensed('2,1', 8)))).toBe(200);
    await patch(first.id, licensed('', 0));
    expect(outcome(await patch(parent.id, licensed('2', 3)))).toBe(200);
    expect(outcome(await patch(parent.id, licensed('2', -1)))).toBe(200);
    expect(outcome(await patch(first.id, licensed('', -1)))).toBe(200);
    expectQuota(await patch(parent.id, { quotaBo: { riskReport: 1_000_000 } }));
    // A deleted child needs nothing.
    await api.delete(`${TENANTS}/${first.id}`);
    expect(outcome(await patch(parent.id, { quotaBo: { riskReport: 3 } }))).toBe(200);
  });

  it('ceilings hold when a tenant is moved or restored', async () => {
    const outside = await aTenant(api, licensed('1,4', 8));
    const below = await aTenant(api, { tenantParent: outside.tenantId, ...licensed('1', 2) });
    const move = { tenantParent: parent.tenantId };
    expectMenus(await patch(outside.id, move), [4]);
    await child('', 3);
    expectQuota(await patch(outside.id, { ...move, packageBo: { menuIds: '1' } }));
    expectMenus(await patch(outside.id, { ...move, ...licensed('2', 7) }), [1]);
    expect(outcome(await patch(outside.id, { ...move, ...licensed('1,2', 7) }))).toBe(200);
    await api.delete(`${TENANTS}/${below.id}`);
    await patch(outside.id, licensed('', 1));
    const restore = (fields?: object) => api.post(`${TENANTS}/${below.id}/restore`, fields);
    expectMenus(await restore(), [1]);
    await patch(outside.id, licensed('1', 1));
    expectQuota(await restore());
    expectQuota(await restore({ tenantParent: outside.tenantId }));
    expect(outcome(await restore({ tenantParent: parent.tenantId }))).toBe(200);
  });

  it('ceilings hold when both ends are changed at once', async () => {
    const there = other.as();
    for (let round = 0; round < times(50, 8); round += 1) {
      await patch(parent.id, licensed('1,2,3', 10));
      const a = await child('', 0);
      const b = await child('', 0);
      const answers = await Promise.all([
        patch(a.id, licensed('3', 6)),
        there.patch(`${TENANTS}/${b.id}`, licensed('2', 6)),
        there.patch(`${TENANTS}/${parent.id}`, licensed('1', 9)),
      ]);
      // Two of them never fit together.
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status } of answers) expect([200, 409]).toContain(status);
      for (const { id } of [a, b]) await api.delete(`${TENANTS}/${id}`);
    }
  });

  it('ceilings that did not hold before are found by the doctor', async () => {
    const { id, tenantId } = await child('1', 5);
    const set = (menuIds: string, riskReport: number) =>
      service.dataSource.manager.update(TenantryTenant, { id }, { menuIds, quota: { riskReport } });
    await set('1,8,9', 11);
    const examine = async (ceilings: Ceilings) =>
      (await new ServiceDoctor(service.dataSource, ceilings).examine()).findings.filter(
        (line) => !/journal|quota \d+ riskReport: its counter/.test(line),
      );
    expect(await examine(new Ceilings())).toEqual([]);
    expect(await examine(new Ceilings({ packages: true, quotas: true }))).toEqual([
      `tenant ${tenantId}: its parent has not the menus 8, 9`,
      `tenant ${parent.tenantId}: its children have more of the quota riskReport than it has`,
    ]);
    expect(service.app.get(Ceilings)).toMatchObject({ packages: true, quotas: true });
    // What does not change what it is licensed is not held against it.
    expect(outcome(await patch(id, { tenantName: 'x' }))).toBe(200);
    await set('1', 5);
  });
});

describe('without ceilings', () => {
  const service = ServiceUnderTest.use();

  it('a child may have more than its parent without ceilings', async () => {
    const { tenantId } = await aTenant(service.as(), {});
    const more = { packageBo: { menuIds: '1' }, quotaBo: { riskReport: 5 } };
    await aTenant(service.as(), { tenantParent: tenantId, ...more });
  });
});
