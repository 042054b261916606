import type { TenantDto } from '../../src/tenant/tenant-view.dto';
import { type ApiClient, aTenant } from '../../src/server/testing';
import { HandClock, HeldTime } from '../support/hand-clock';
import { expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/tenant-api';

describe('the state of a tenant, on every request of its users', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({}, clock);
  let root: ApiClient;
  let tenant: Readonly<TenantDto>;
  let user: ApiClient;

  beforeAll(() => {
    root = service.as({ roles: ['superadmin'] });
  });
  beforeEach(async () => {
    clock.set('2026-06-15T04:00:00Z');
    tenant = await aTenant(root);
    user = service.as({ tenantId: tenant.tenantId });
    expect(await verdict()).toBe('served');
  });

  /** What a user with a live token meets, on both resources. */
  async function verdict(): Promise<string> {
    const answers = [
      await user.get('/system/dept-api/1'),
      await user.post('/system/dept-api', {}),
      await user.get(`${PATH}/${tenant.id}`),
    ];
    const seen = answers.map(({ status, body, refusal }) =>
      status === 403 ? refusal.reason : body.code === 401 ? 'no' : 'served',
    );
    expect(new Set(seen).size).toBe(1);
    return seen[0]!;
  }

  const change = async (values: Record<string, unknown>) => {
    expect((await root.put(PATH, { ...tenant, ...values })).status).toBe(200);
  };

  it.each([
    ['TENANT_DISABLED', { status: '1' }, { status: '0' }],
    ['TENANT_EXPIRED', { endTime: '2026-06-14' }, { endTime: '2026-06-15' }],
    ['TENANT_NOT_STARTED', { startTime: '2026-06-16' }, { startTime: '2026-06-15' }],
  ])(
    'a tenant is refused on the next request with %s, and served again after a change',
    async (reason, shut, open) => {
      await change(shut);
      expect(await verdict()).toBe(reason);
      await change(open);
      expect(await verdict()).toBe('served');
    },
  );

  it('a deleted tenant is refused on the next request', async () => {
    await root.delete(`${PATH}/${tenant.id}`);
    expect(await verdict()).toBe('TENANT_DELETED');
  });

  it('a service period begins and ends at midnight of the configured zone, both days included', async () => {
    await change({ startTime: '2026-07-01', endTime: '2026-07-02' });
    // Midnight in Shanghai is 16:00 UTC of the day before.
    for (const [instant, expected] of [
      ['2026-06-30T15:59:58Z', 'TENANT_NOT_STARTED'],
      ['2026-06-30T16:00:00Z', 'served'],
      ['2026-07-02T15:59:58Z', 'served'],
      ['2026-07-02T16:00:00Z', 'TENANT_EXPIRED'],
    ] as const) {
      clock.set(instant);
      expect([instant, await verdict()]).toEqual([instant, expected]);
    }
  });

  it("a disabled tenant can be managed by its parent's administrators, and its children's users are served", async () => {
    const child = await aTenant(root, { tenantParent: tenant.tenantId });
    await change({ status: '1' });
    expect((await root.get(`${PATH}/${tenant.id}`)).status).toBe(200);
    expect((await service.as({ tenantId: child.tenantId }).post('/system/dept-api', {})).status).toBe(200);
  });

  it('a state changed by another node is seen within five seconds, and a deleted tenant is not written to before', async () => {
    const elsewhere = await ServiceUnderTest.on(service.database, {}, clock);
    const there = elsewhere.as({ roles: ['superadmin'] });
    const other = await aTenant(root);
    const itsUser = service.as({ tenantId: other.tenantId });
    expect((await itsUser.post('/system/dept-api', {})).status).toBe(200);
    const time = new HeldTime();
    expect((await user.get('/system/dept-api/1')).status).toBe(404);
    await there.put(PATH, { ...tenant, status: '1' });
    await there.delete(`${PATH}/${other.id}`);
    for (const answer of [
      await itsUser.post('/system/dept-api', {}),
      await itsUser.post(PATH, { tenantName: 'x' }),
      await itsUser.put(PATH, { id: other.id, tenantName: 'x' }),
    ]) {
      expectRefused(answer, 403, 'TENANT_DELETED');
    }
    // The time of day steps back: what is remembered must not live longer by it.
    clock.pass(-3_600_000);
    time.pass(5000);
    expect(await verdict()).toBe('TENANT_DISABLED');
    time.release();
    await elsewhere.leave();
  });
});
