import { In } from 'typeorm';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import type { Answer, ApiClient } from '../../src/server/testing';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/tenant-api';

type Place = 'platform' | 'parent' | 'child' | 'sibling' | 'grandchild';
const PLACES: readonly Place[] = ['platform', 'parent', 'child', 'sibling', 'grandchild'];

/** platform ─ parent ─ child ─ grandchild, and sibling beside child. */
const BELOW: Record<Place, readonly Place[]> = {
  platform: ['parent', 'child', 'sibling', 'grandchild'],
  parent: ['child', 'sibling', 'grandchild'],
  child: ['grandchild'],
  sibling: [],
  grandchild: [],
};

interface Target {
  readonly id: string;
  readonly tenantId: string;
  readonly tenantName: string;
}

type Verdict = 'allowed' | 'OWN_TENANT' | 'ROLE_REQUIRED' | 'TENANT_NOT_FOUND' | 'PARENT_TENANT_NOT_FOUND';
type Send = (api: ApiClient, target: Target) => Promise<Answer>;

/** What is answered for the caller's own tenant, and for one that is not below it. */
const OPERATIONS: [name: string, own: Verdict, outside: Verdict, send: Send][] = [
  [
    ...(['create below', 'allowed', 'PARENT_TENANT_NOT_FOUND'] as const),
    (api, { tenantId }) => api.post(PATH, { tenantName: 'new', tenantParent: tenantId }),
  ],
  ['read', 'allowed', 'TENANT_NOT_FOUND', (api, { id }) => api.get(`${PATH}/${id}`)],
  ['update', 'OWN_TENANT', 'TENANT_NOT_FOUND', (api, target) => api.put(PATH, { ...target })],
  ['delete', 'OWN_TENANT', 'TENANT_NOT_FOUND', (api, { id }) => api.delete(`${PATH}/${id}`)],
];

describe('who may do what with tenants', () => {
  const service = ServiceUnderTest.use();
  let tenants: Record<Place, Target>;

  /** Tenants of their own for every request, because deletes are among them. */
  async function family(): Promise<Record<Place, Target>> {
    const platform = { id: '1', tenantId: '000000', tenantName: 'platform' };
    const parent = await seed('0,000000', platform);
    const child = await seed(`0,000000,${parent.tenantId}`, parent);
    const sibling = await seed(`0,000000,${parent.tenantId}`, parent);
    const grandchild = await seed(`0,000000,${parent.tenantId},${child.tenantId}`, child);
    return { platform, parent, child, sibling, grandchild };
  }

  async function seed(ancestors: string, above: Target): Promise<Target> {
    const place = { ancestors, depth: ancestors.split(',').length, tenantParent: above.tenantId };
    const tenantId = await aTenantRow(service.dataSource, place);
    // A seeded tenant's id is its code.
    return { id: tenantId, tenantId, tenantName: 'a tenant' };
  }

  const cases = (['superadmin', 'tenant_admin', 'member'] as const).flatMap((role) =>
    PLACES.filter((actor) => role !== 'superadmin' || actor === 'platform').map(
      (actor) => [role, actor] as const,
    ),
  );

  describe.each(OPERATIONS)('to %s a tenant', (name, own, outside, send) => {
    it.each(cases)('tenants at every place are open or closed to a %s of %s', async (role, actor) => {
      for (const target of PLACES) {
        tenants = await family();
        const before = await stored();
        const api = service.as({ tenantId: tenants[actor].tenantId, roles: [role] });
        const answer = await send(api, tenants[target]);
        const verdict = actor === target ? own : BELOW[actor].includes(target) ? 'allowed' : outside;
        const expected = role === 'member' ? 'ROLE_REQUIRED' : verdict;
        if (expected === 'allowed') {
          // A delete is allowed, and then refused by the state while there are children.
          const hasChildren = name === 'delete' && ['parent', 'child'].includes(target);
          expect([target, answer.status]).toEqual([target, hasChildren ? 409 : 200]);
        } else {
          expect([target, answer.refusal.reason, await stored()]).toEqual([target, expected, before]);
        }
      }
    });
  });

  it('tenants outside read to the byte as ones that never existed', async () => {
    tenants = await family();
    const api = service.as({ tenantId: tenants.sibling.tenantId }).with({ 'x-request-id': 'same' });
    const never = '1234567890123456789';
    for (const place of ['platform', 'parent', 'child', 'grandchild'] as const) {
      const { id } = tenants[place];
      for (const probe of [
        (of: string) => api.get(`${PATH}/${of}`),
        (of: string) => api.delete(`${PATH}/${of}`),
        (of: string) => api.put(PATH, { id: of, tenantName: 'x' }),
      ]) {
        expect((await probe(id)).text).toBe((await probe(never)).text);
      }
    }
  });

  const stored = async () => [
    await service.dataSource.manager.count(TenantEntity),
    await service.dataSource.manager.find(TenantEntity, {
      where: { tenantId: In(Object.values(tenants).map(({ tenantId }) => tenantId)) },
      order: { id: 1 },
    }),
  ];
});
