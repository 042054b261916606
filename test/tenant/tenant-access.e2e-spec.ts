import { In } from 'typeorm';
import type { Role } from '../../src/tenancy/roles';
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

interface Operation {
  readonly name: string;
  send(api: ApiClient, target: Target): Promise<Answer>;
  expected(actor: Place, target: Place): Verdict;
}

const onlyBelow = (actor: Place, target: Place): Verdict => {
  if (actor === target) return 'OWN_TENANT';
  return BELOW[actor].includes(target) ? 'allowed' : 'TENANT_NOT_FOUND';
};

const OPERATIONS: readonly Operation[] = [
  {
    name: 'create below',
    send: (api, { tenantId }) => api.post(PATH, { tenantName: 'new', tenantParent: tenantId }),
    expected: (actor, target) =>
      actor === target || BELOW[actor].includes(target) ? 'allowed' : 'PARENT_TENANT_NOT_FOUND',
  },
  {
    name: 'read',
    send: (api, { id }) => api.get(`${PATH}/${id}`),
    expected: (actor, target) =>
      actor === target || BELOW[actor].includes(target) ? 'allowed' : 'TENANT_NOT_FOUND',
  },
  { name: 'update', send: (api, target) => api.put(PATH, { ...target }), expected: onlyBelow },
  { name: 'delete', send: (api, { id }) => api.delete(`${PATH}/${id}`), expected: onlyBelow },
];

describe('who may do what with tenants', () => {
  const service = ServiceUnderTest.use();
  let tenants: Record<Place, Target>;

  /** A family of its own for every case, because deletes are among them; seeded, because there are many. */
  beforeEach(async () => {
    const platform = { id: '1', tenantId: '000000', tenantName: 'platform' };
    const parent = await seed('0,000000', platform);
    const child = await seed(`0,000000,${parent.tenantId}`, parent);
    const sibling = await seed(`0,000000,${parent.tenantId}`, parent);
    const grandchild = await seed(`0,000000,${parent.tenantId},${child.tenantId}`, child);
    tenants = { platform, parent, child, sibling, grandchild };
  });

  async function seed(ancestors: string, above: Target): Promise<Target> {
    const place = { ancestors, depth: ancestors.split(',').length, tenantParent: above.tenantId };
    const tenantId = await aTenantRow(service.dataSource, place);
    // A seeded tenant's id is its code.
    return { id: tenantId, tenantId, tenantName: 'a tenant' };
  }

  const cases = OPERATIONS.flatMap((operation) =>
    (['superadmin', 'tenant_admin', 'member'] as const).flatMap((role) =>
      PLACES.filter((actor) => role !== 'superadmin' || actor === 'platform').flatMap((actor) =>
        PLACES.map((target) => ({ operation, role, actor, target, name: operation.name })),
      ),
    ),
  );

  it.each(cases)('$name: a $role of $actor on $target', async ({ operation, role, actor, target }) => {
    const before = await stored();
    const api = service.as({ tenantId: tenants[actor].tenantId, roles: [role] satisfies Role[] });
    const answer = await operation.send(api, tenants[target]);
    const expected = role === 'member' ? 'ROLE_REQUIRED' : operation.expected(actor, target);
    if (expected === 'allowed') {
      // A delete is allowed, and then refused by the state while there are children.
      const hasChildren = operation.name === 'delete' && ['parent', 'child'].includes(target);
      expect(answer.status).toBe(hasChildren ? 409 : 200);
    } else {
      expect([answer.refusal.reason, await stored()]).toEqual([expected, before]);
    }
  });

  it('outside reads to the byte as never existed', async () => {
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
      select: fields,
      where: { tenantId: In(Object.values(tenants).map(({ tenantId }) => tenantId)) },
      order: { id: 1 },
    }),
  ];
  const fields = {
    id: true,
    tenantId: true,
    tenantName: true,
    tenantParent: true,
    ancestors: true,
    delFlag: true,
    updateTime: true,
  } as const;
});
