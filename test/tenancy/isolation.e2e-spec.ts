import { DeptEntity } from '../../src/dept/dept.entity';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import type { Answer, ApiClient } from '../support/api-client';
import { routesOf, type Route } from '../support/routes';
import { aDept, aTenant } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

type Probe = (api: ApiClient, id: number, own: number) => Promise<Answer>;

/** For every route that takes an id, all the positions an id can stand in. */
const PROBES: Record<string, readonly Probe[]> = {
  'POST /system/tenant-api': [
    (api, id) => api.post('/system/tenant-api', { tenantName: 'x', tenantParent: String(id) }),
  ],
  'GET /system/tenant-api/:id': [(api, id) => api.get(`/system/tenant-api/${id}`)],
  'PUT /system/tenant-api': [
    (api, id) => api.put('/system/tenant-api', { id: String(id), tenantName: 'taken over' }),
    (api, id) => api.put('/system/tenant-api', { id: String(id), tenantName: 'x', tenantParent: '000000' }),
  ],
  'DELETE /system/tenant-api/:id': [(api, id) => api.delete(`/system/tenant-api/${id}`)],
  'POST /system/dept-api': [(api, id) => api.post('/system/dept-api', { parentId: id })],
  'GET /system/dept-api/:id': [(api, id) => api.get(`/system/dept-api/${id}`)],
  'PUT /system/dept-api': [
    (api, id) => api.put('/system/dept-api', { deptId: id, deptName: 'taken over' }),
    (api, id) => api.put('/system/dept-api', { deptId: id, parentId: 0 }),
    (api, id, own) => api.put('/system/dept-api', { deptId: id, parentId: own }),
    (api, id, own) => api.put('/system/dept-api', { deptId: own, parentId: id }),
  ],
  'DELETE /system/dept-api/:ids': [
    (api, id) => api.delete(`/system/dept-api/${id}`),
    (api, id, own) => api.delete(`/system/dept-api/${own},${id}`),
  ],
};

const NEVER = 888_888_888;

describe('tenant isolation', () => {
  let service: ServiceUnderTest;
  let routes: Route[];

  beforeAll(async () => {
    service = await ServiceUnderTest.start();
    routes = routesOf(service.app);
  });
  afterAll(() => service.stop());

  const protectedRoutes = () => routes.filter(({ isPublic }) => !isPublic);

  it('knows every route: one without probes fails here', () => {
    expect(
      protectedRoutes()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(PROBES).sort());
  });

  it('finds roles declared on every route that is not public', () => {
    for (const { name, roles } of protectedRoutes())
      expect([name, roles?.length]).not.toEqual([name, undefined]);
    expect(routes.filter(({ isPublic }) => isPublic).map(({ name }) => name)).toEqual([
      'GET /health/live',
      'GET /health/ready',
    ]);
  });

  it.each(Object.keys(PROBES))(
    '%s answers for a foreign id as for one that never was, and leaves it alone',
    async (name) => {
      const [mine, theirs] = [await aTenant(service.dataSource), await aTenant(service.dataSource)];
      const owner = service.as({ tenantId: theirs });
      const foreign = await aDept(owner, { deptName: 'theirs', leader: 'x' });
      await aDept(owner, { parentId: foreign });
      const before = await rows(theirs);
      // For tenants the foreign id is the foreign tenant's own (its seeded id is its code); the platform is above all.
      const ofTenants = name.includes('tenant-api');
      const probed = ofTenants ? Number(theirs) : foreign;
      for (const tenantId of ofTenants ? [mine] : [mine, '000000']) {
        const api = service.as({
          tenantId,
          roles: tenantId === '000000' ? ['superadmin'] : ['tenant_admin'],
        });
        const own = await aDept(api);
        const quiet = api.with({ 'x-request-id': 'probe' });
        for (const probe of PROBES[name]!) {
          const [toForeign, toNever] = [await probe(quiet, probed, own), await probe(quiet, NEVER, own)];
          expect([toForeign.status, toForeign.text]).toEqual([404, toNever.text]);
        }
        expect((await api.get(`/system/dept-api/${own}`)).status).toBe(200);
      }
      expect(await rows(theirs)).toEqual(before);
    },
  );

  const rows = async (tenantId: string) => [
    await service.dataSource.manager.find(DeptEntity, { where: { tenantId }, order: { deptId: 1 } }),
    await service.dataSource.manager.findOneBy(TenantEntity, { tenantId }),
  ];
});
