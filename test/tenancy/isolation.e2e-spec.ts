import { DeptEntity } from '../../src/dept/dept.entity';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/user/account.entity';
import { aDept, type Answer, type ApiClient, aUser } from '../../src/testing';
import { routesOf, type Route } from '../support/routes';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

type Probe = (api: ApiClient, id: number, own: number) => Promise<Answer>;

/** For every route that takes an id, all the positions an id can stand in. */
const PROBES: Record<string, readonly Probe[]> = {
  'POST /system/user-api': [
    (api, id) => api.post('/system/user-api', { username: 'x', password: 'a-long-password', deptId: id }),
  ],
  'GET /system/user-api': [
    (api) => api.get('/system/user-api?limit=500'),
    (api, id) => api.get(`/system/user-api?limit=500&deptId=${id}`),
  ],
  'GET /system/user-api/:id': [(api, id) => api.get(`/system/user-api/${id}`)],
  'PUT /system/user-api': [(api, id) => api.put('/system/user-api', { userId: id, username: 'taken over' })],
  'PUT /system/user-api/password': [
    (api, id) => api.put('/system/user-api/password', { userId: id, newPassword: 'taken-over-now' }),
  ],
  'DELETE /system/user-api/:id': [(api, id) => api.delete(`/system/user-api/${id}`)],
  'POST /system/tenant-api': [
    (api, id) => api.post('/system/tenant-api', { tenantName: 'x', tenantParent: String(id) }),
  ],
  'GET /system/tenant-api/:id': [(api, id) => api.get(`/system/tenant-api/${id}`)],
  'PUT /system/tenant-api': [
    (api, id) => api.put('/system/tenant-api', { id: String(id), tenantName: 'taken over' }),
    (api, id) => api.put('/system/tenant-api', { id: String(id), tenantName: 'x', tenantParent: '000000' }),
  ],
  'GET /system/tenant-api': [
    (api) => api.get('/system/tenant-api?limit=500'),
    (api, id) => api.get(`/system/tenant-api?limit=500&tenantParent=${id}`),
  ],
  'PATCH /system/tenant-api': [
    (api, id) => api.patch('/system/tenant-api', { id: String(id), tenantName: 'taken over' }),
  ],
  'PATCH /system/tenant-api/:id': [
    (api, id) => api.patch(`/system/tenant-api/${id}`, { tenantName: 'taken over' }),
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
  'PATCH /system/dept-api': [
    (api, id) => api.patch('/system/dept-api', { deptId: id, deptName: 'taken over' }),
    (api, id, own) => api.patch('/system/dept-api', { deptId: own, parentId: id }),
  ],
  'PATCH /system/dept-api/:id': [
    (api, id) => api.patch(`/system/dept-api/${id}`, { deptName: 'taken over' }),
    (api, id, own) => api.patch(`/system/dept-api/${own}`, { parentId: id }),
  ],
  'PUT /system/dept-api/order': [
    (api, id) => api.put('/system/dept-api/order', { deptIds: [id] }),
    (api, id, own) => api.put('/system/dept-api/order', { deptIds: [own, id] }),
    (api, id, own) => api.put('/system/dept-api/order', { parentId: id, deptIds: [own] }),
  ],
  'GET /system/dept-api': [
    (api) => api.get('/system/dept-api?limit=500'),
    (api) => api.get('/system/dept-api?limit=500&deptName=thei'),
    (api, id) => api.get(`/system/dept-api?parentId=${id}`),
    (api, id) => api.get(`/system/dept-api?ids=${id}`),
    (api, id) => api.get(`/system/dept-api?ancestorId=${id}`),
  ],
  'GET /system/dept-api/tree': [
    (api) => api.get('/system/dept-api/tree'),
    (api) => api.get('/system/dept-api/tree?deptName=thei'),
    (api, id) => api.get(`/system/dept-api/tree?rootId=${id}`),
  ],
  'GET /system/dept-api/export': [(api) => api.get('/system/dept-api/export')],
  'GET /system/dept-api/:id/ancestors': [(api, id) => api.get(`/system/dept-api/${id}/ancestors`)],
  'DELETE /system/dept-api/:id': [
    (api, id) => api.delete(`/system/dept-api/${id}`),
    (api, id, own) => api.delete(`/system/dept-api/${own},${id}`),
  ],
};

const NEVER = 888_888_888;

/** Routes that take no id: there is nothing foreign to name. */
const WITHOUT_IDS = ['POST /auth/logout', 'GET /auth/me', 'POST /system/dept-api/import'];

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
    ).toEqual([...Object.keys(PROBES), ...WITHOUT_IDS].sort());
  });

  it('finds roles declared on every route that is not public', () => {
    for (const { name, roles } of protectedRoutes())
      expect([name, roles?.length]).not.toEqual([name, undefined]);
    expect(
      routes
        .filter(({ isPublic }) => isPublic)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([
      'GET /health/live',
      'GET /health/ready',
      'POST /auth/login',
      'POST /auth/refresh',
      'POST /auth/token',
    ]);
  });

  it.each(Object.keys(PROBES))(
    '%s answers for a foreign id as for one that never was, and leaves it alone',
    async (name) => {
      const [mine, theirs] = [await aTenantRow(service.dataSource), await aTenantRow(service.dataSource)];
      const owner = service.as({ tenantId: theirs });
      const foreign = await aDept(owner, { deptName: 'theirs', leader: 'x' });
      await aDept(owner, { parentId: foreign });
      // For tenants the foreign id is the foreign tenant's own (its seeded id is its code); the platform is above all.
      const ofTenants = name.includes('tenant-api');
      const probed = await idToProbe();
      async function idToProbe(): Promise<number> {
        if (ofTenants) return Number(theirs);
        // A list has no foreign id to ask for; and an account's department is a department.
        return name.includes('user-api') && !name.startsWith('POST') ? aUser(owner) : foreign;
      }
      const before = await rows(theirs);
      for (const tenantId of ofTenants ? [mine] : [mine, '000000']) {
        const api = service.as({
          tenantId,
          roles: tenantId === '000000' ? ['superadmin'] : ['tenant_admin'],
        });
        const own = await aDept(api);
        const quiet = api.with({ 'x-request-id': 'probe' });
        for (const probe of PROBES[name]!) {
          const [toForeign, toNever] = [await probe(quiet, probed, own), await probe(quiet, NEVER, own)];
          // A filter that names nothing finds nothing; an id that is nothing is not found.
          const found = isList(toNever) ? 200 : 404;
          expect([toForeign.status, toForeign.text]).toEqual([found, toNever.text]);
          expect(toForeign.text).not.toContain(`"tenantId":"${theirs}"`);
          expect(toForeign.text).not.toContain('theirs');
        }
        expect((await api.get(`/system/dept-api/${own}`)).status).toBe(200);
      }
      expect(await rows(theirs)).toEqual(before);
    },
  );

  const isList = ({ status, text }: Answer) => status === 200 && /"(rows|path)":/.test(text);

  const rows = async (tenantId: string) => [
    await service.dataSource.manager.find(DeptEntity, { where: { tenantId }, order: { deptId: 1 } }),
    await service.dataSource.manager.findOneBy(TenantEntity, { tenantId }),
    await service.dataSource.manager.find(AccountEntity, { where: { tenantId }, order: { userId: 1 } }),
  ];
});
