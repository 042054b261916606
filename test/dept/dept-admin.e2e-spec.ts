import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, type Answer, type ApiClient, type Caller } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const NDJSON = { 'content-type': 'application/x-ndjson' };

/** A company of two branches, of which each has an administrator. */
interface Company {
  readonly tenantId: string;
  readonly all: ApiClient;
  readonly north: ApiClient;
  readonly south: ApiClient;
  readonly ids: Readonly<Record<'company' | 'north' | 'n1' | 'n11' | 'n2' | 'south' | 's1', number>>;
}

describe('a department administrator', () => {
  const service = ServiceUnderTest.use();
  let company: Company;

  const managing = (tenantId: string, managedDeptIds: number[], more: Partial<Caller> = {}): ApiClient =>
    service.as({ tenantId, username: 'part', roles: ['dept_admin'], managedDeptIds, ...more });

  beforeEach(async () => {
    const { tenantId, api: all } = await freshTenant(service);
    const dept = (deptName: string, parentId = 0) => aDept(all, { deptName, parentId });
    const top = await dept('company');
    const [north, south] = [await dept('north', top), await dept('south', top)];
    const n1 = await dept('n1', north);
    const ids = { company: top, north, south, n1, n11: await dept('n11', n1), n2: await dept('n2', north) };
    const branches = { north: managing(tenantId, [north]), south: managing(tenantId, [south]) };
    company = { tenantId, all, ...branches, ids: { ...ids, s1: await dept('s1', south) } };
  });

  const row = (deptId: number) => service.dataSource.manager.findOneByOrFail(TenantryDept, { deptId });
  const outside = (answer: Answer, ...ids: number[]): void => {
    expectRefused(answer, 403, 'OUTSIDE_MANAGED_DEPTS');
    expect(answer.refusal.ids!.toSorted((a, b) => a - b)).toEqual([...ids].sort((a, b) => a - b));
  };
  const done = (answer: Answer): void => {
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
  };
  /** What all of the tenant's departments are, to the byte. */
  const everything = async (): Promise<string> =>
    JSON.stringify(
      await service.dataSource.manager.find(TenantryDept, { where: { tenantId: company.tenantId } }),
    );

  it('a department administrator creates, changes, moves, orders, deletes and restores below its department', async () => {
    const { north: api, ids } = company;
    const made = await aDept(api, { parentId: ids.north, deptName: 'made' });
    done(await api.patch(`${PATH}/${made}`, { status: '1', leader: 'x' }));
    done(await api.put(PATH, { deptId: made, deptName: 'made', parentId: ids.n11 }));
    expect((await row(made)).ancestors).toBe(`0,${ids.company},${ids.north},${ids.n1},${ids.n11}`);
    done(await api.put(`${PATH}/order`, { parentId: ids.north, deptIds: [ids.n2, ids.n1] }));
    done(await api.delete(`${PATH}/${ids.n1}?subtree=true`));
    done(await api.post(`${PATH}/${ids.n1}/restore`, {}));
    done(await api.delete(`${PATH}/${made}`));
    done(await api.post(`${PATH}/${made}/restore`, { parentId: ids.n2 }));
    expect((await row(made)).ancestors).toBe(`0,${ids.company},${ids.north},${ids.n2}`);
    const { body } = await api.get(`${PATH}/${made}/history`);
    expect((body.data as { rows: { by: string }[] }).rows[0]!.by).toBe('part');
  });

  it('a department administrator changes nothing outside its part', async () => {
    const { north: api, ids } = company;
    const before = await everything();
    outside(await api.post(PATH, { deptName: 'x' }), 0);
    outside(await api.post(PATH, { parentId: ids.company }), ids.company);
    outside(await api.post(PATH, { parentId: ids.s1 }), ids.s1);
    outside(await api.patch(`${PATH}/${ids.s1}`, { leader: 'x' }), ids.s1);
    outside(await api.put(PATH, { deptId: ids.company, deptName: 'x' }), ids.company);
    outside(await api.patch(`${PATH}/${ids.n1}`, { parentId: ids.south }), ids.south);
    outside(await api.patch(`${PATH}/${ids.s1}`, { parentId: ids.n1 }), ids.s1);
    outside(await api.patch(`${PATH}/${ids.n1}`, { parentId: 0 }), 0);
    outside(await api.delete(`${PATH}/${ids.n2},${ids.s1},${ids.company}`), ids.company, ids.s1);
    outside(await api.delete(`${PATH}/${ids.company}?subtree=true`), ids.company);
    outside(await api.put(`${PATH}/order`, { parentId: ids.south, deptIds: [ids.s1] }), ids.s1);
    expect(await everything()).toBe(before);
  });

  it('a department administrator changes the details of its own department, but not its parent, its status or its life', async () => {
    const { north: api, all, ids } = company;
    const details = { deptName: 'North', leader: 'x', phone: '1', email: 'a@b.cn', orderNum: 7 };
    done(await api.put(PATH, { deptId: ids.north, ...details }));
    done(await api.patch(`${PATH}/${ids.north}`, { leader: 'y', parentId: ids.company, status: '0' }));
    expect(await row(ids.north)).toMatchObject({ ...details, leader: 'y', parentId: ids.company });
    const before = await everything();
    outside(await api.patch(`${PATH}/${ids.north}`, { parentId: ids.n1 }), ids.north);
    outside(await api.patch(`${PATH}/${ids.north}`, { parentId: 0 }), ids.north);
    outside(await api.patch(`${PATH}/${ids.north}`, { status: '1' }), ids.north);
    outside(await api.delete(`${PATH}/${ids.north}`), ids.north);
    outside(await api.delete(`${PATH}/${ids.north}?subtree=true`), ids.north);
    outside(await api.put(`${PATH}/order`, { parentId: ids.company, deptIds: [ids.north] }), ids.north);
    expect(await everything()).toBe(before);
    // What is not sent would be reset, also from disabled to normal.
    await all.patch(`${PATH}/${ids.north}`, { status: '1' });
    outside(await api.put(PATH, { deptId: ids.north, deptName: 'x' }), ids.north);
    done(await api.put(PATH, { deptId: ids.north, deptName: 'x', status: '1' }));
  });

  it('a department that moves into a part is managed by the next request, and one that moves away is not', async () => {
    const { north, south, all, ids } = company;
    const rename = (api: ApiClient) => api.patch(`${PATH}/${ids.n11}`, { deptName: 'x' });
    outside(await rename(south), ids.n11);
    await all.patch(`${PATH}/${ids.n1}`, { parentId: ids.s1 });
    done(await rename(south));
    outside(await rename(north), ids.n11);
  });

  it('a managed department that is deleted gives nothing, and gives again what it gave when it is restored', async () => {
    const { all, ids, tenantId } = company;
    const both = managing(tenantId, [ids.north, ids.south]);
    await all.delete(`${PATH}/${ids.n1}?subtree=true`);
    done(await both.get(`${PATH}/${ids.n1}/history`));
    await all.delete(`${PATH}/${ids.north}?subtree=true`);
    outside(await both.post(`${PATH}/${ids.north}/restore`, {}), ids.company);
    outside(await both.post(`${PATH}/${ids.north}/restore`, { parentId: ids.south }), ids.north);
    outside(await both.post(`${PATH}/${ids.n1}/restore`, { parentId: ids.south }), ids.n1);
    outside(await both.get(`${PATH}/${ids.n1}/history`), ids.n1);
    outside(await both.get(`${PATH}?deleted=true&parentId=${ids.north}`), ids.north);
    expectRefused(await both.post(PATH, { parentId: ids.north }), 404, 'PARENT_NOT_FOUND');
    await all.post(`${PATH}/${ids.north}/restore`, {});
    done(await both.post(`${PATH}/${ids.n1}/restore`, { parentId: ids.south }));
  });

  it('what is restored elsewhere must have stood in the part; what comes back where it stood needs only that place', async () => {
    const { north, south, all, ids } = company;
    await all.delete(`${PATH}/${ids.n11}`);
    outside(await south.post(`${PATH}/${ids.n11}/restore`, { parentId: ids.s1 }), ids.n11);
    outside(await north.post(`${PATH}/${ids.n11}/restore`, { parentId: ids.s1 }), ids.s1);
    // Its parent has moved meanwhile, and the path that it had tells nothing of that.
    await all.patch(`${PATH}/${ids.n1}`, { parentId: ids.south });
    outside(await north.post(`${PATH}/${ids.n11}/restore`, {}), ids.n1);
    done(await south.post(`${PATH}/${ids.n11}/restore`, {}));
  });

  it('nothing is told of what is deleted outside the part, not even that its parent is deleted, too', async () => {
    const { north, all, ids } = company;
    await all.delete(`${PATH}/${ids.s1}`);
    await all.delete(`${PATH}/${ids.south}`);
    outside(await north.post(`${PATH}/${ids.s1}/restore`, {}), ids.s1);
  });

  it('a department administrator reads as members do, and history and deleted departments of its part', async () => {
    const { north: api, all, ids } = company;
    for (const path of ['', '/tree', '/export', `/${ids.s1}`, `/${ids.s1}/ancestors`])
      done(await api.get(PATH + path));
    done(await api.get(`${PATH}/${ids.north}/history`));
    outside(await api.get(`${PATH}/${ids.s1}/history`), ids.s1);
    outside(await api.get(`${PATH}/${ids.company}/history`), ids.company);
    expectRefused(await api.get(`${PATH}/diff?from=0`), 403, 'ROLE_REQUIRED');
    await all.delete(`${PATH}/${ids.n2},${ids.s1}`);
    const { body } = await api.get(`${PATH}?deleted=true&parentId=${ids.north}`);
    expect((body.data as { rows: { deptId: number }[] }).rows.map(({ deptId }) => deptId)).toEqual([ids.n2]);
    done(await api.get(`${PATH}/${ids.n2}/history`));
    outside(await api.get(`${PATH}/${ids.s1}/history`), ids.s1);
    outside(await api.get(`${PATH}?deleted=true`), 0);
    outside(await api.get(`${PATH}?deleted=true&parentId=0`), 0);
    outside(await api.get(`${PATH}?deleted=true&parentId=${ids.south}`), ids.south);
    expectRefused(await api.get(`${PATH}?deleted=true&parentId=900000000`), 404, 'DEPT_NOT_FOUND');
  });

  it('a refusal of what does not exist comes before one of what is outside, and that before one of the state', async () => {
    const { north: api, all, ids } = company;
    expectRefused(await api.patch(`${PATH}/900000000`, {}), 404, 'DEPT_NOT_FOUND');
    expectRefused(await api.get(`${PATH}/900000000/history`), 404, 'DEPT_NOT_FOUND');
    expectRefused(await api.delete(`${PATH}/900000000,${ids.south}`), 404, 'DEPT_NOT_FOUND');
    expectRefused(await api.post(PATH, { parentId: 900_000_000 }), 404, 'PARENT_NOT_FOUND');
    expectRefused(await api.post(`${PATH}/900000000/restore`, {}), 404, 'DEPT_NOT_FOUND');
    await all.patch(`${PATH}/${ids.south}`, { status: '1' });
    outside(await api.post(PATH, { parentId: ids.south }), ids.south);
    outside(await api.delete(`${PATH}/${ids.south}`), ids.south);
    outside(await api.post(`${PATH}/${ids.south}/restore`, {}), ids.south);
    outside(await api.put(PATH, { deptId: ids.south }), ids.south);
    const stale = { 'if-match': '"99"' };
    outside(await api.patch(`${PATH}/${ids.south}`, {}, stale), ids.south);
    outside(await api.delete(`${PATH}/${ids.south}`, stale), ids.south);
    outside(await api.put(`${PATH}/order`, { parentId: ids.north, deptIds: [ids.s1] }), ids.s1);
    expectRefused(await api.patch(`${PATH}/${ids.n1}`, { parentId: ids.n11 }), 409, 'DEPT_CYCLE');
    expectRefused(await api.delete(`${PATH}/${ids.n1}`), 409, 'DEPT_HAS_CHILDREN');
  });

  it('a file of a department administrator may name all departments, and changes those in its part only', async () => {
    const { north: api, ids } = company;
    const send = (lines: object[], query = '') =>
      api.post(`${PATH}/import${query}`, lines.map((line) => JSON.stringify(line)).join('\n'), NDJSON);
    const whole = [{ path: 'company' }, { path: 'company/south' }, { path: 'company/south/s1' }];
    const good = [
      { path: 'company/north', leader: 'x' },
      { path: 'company/north/new' },
      { path: 'company/north/new/newer' },
      { path: 'company/north/n1', status: '1' },
    ];
    const answer = await send([...whole, ...good]);
    expect(answer.body.data).toEqual({ created: 2, updated: 2, unchanged: 3 });
    const before = await everything();
    const bad = [
      { path: 'company', leader: 'x' },
      { path: 'other' },
      { path: 'other/new' },
      { path: 'company/south/new' },
      { path: 'company/north', status: '1' },
    ];
    for (const line of bad.filter(({ path }) => path !== 'other/new'))
      expectRefused(await send([...whole.slice(1), line]), 403, 'OUTSIDE_MANAGED_DEPTS');
    const refused = await send([...bad, ...good.slice(1)]);
    outside(refused, ids.company, 0, ids.south, ids.north);
    expect(refused.refusal.fields!.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
    const { lines } = (await send([...bad, ...good.slice(1)], '?dryRun=true')).body.data as {
      lines: { fate: string }[];
    };
    expect(lines.map(({ fate }) => fate)).toEqual([
      ...Array<string>(5).fill('refused'),
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
    expect(await everything()).toBe(before);
  });

  it('one who also is an administrator of the tenant is not limited, and one who manages no department changes none', async () => {
    const { tenantId, ids } = company;
    const roles = ['tenant_admin', 'dept_admin'] as const;
    done(await managing(tenantId, [ids.north], { roles }).patch(`${PATH}/${ids.s1}`, { leader: 'x' }));
    done(await managing(tenantId, [ids.north], { roles }).get(`${PATH}?deleted=true`));
    const none = service.as({ tenantId, roles: ['dept_admin'] });
    outside(await none.patch(`${PATH}/${ids.s1}`, { leader: 'x' }), ids.s1);
    outside(await none.post(PATH, {}), 0);
    // The role decides: departments without it give nothing.
    const member = managing(tenantId, [ids.north], { roles: ['member'] });
    expectRefused(await member.patch(`${PATH}/${ids.n1}`, { leader: 'x' }), 403, 'ROLE_REQUIRED');
  });

  it('departments of another tenant are as absent for a department administrator, also if it is said to manage them', async () => {
    const { ids } = company;
    const { tenantId, api: other } = await freshTenant(service);
    const own = await aDept(other);
    const api = managing(tenantId, [ids.north, own]);
    expectRefused(await api.patch(`${PATH}/${ids.n1}`, { leader: 'x' }), 404, 'DEPT_NOT_FOUND');
    expectRefused(await api.post(PATH, { parentId: ids.north }), 404, 'PARENT_NOT_FOUND');
    expectRefused(await api.get(`${PATH}/${ids.n1}/history`), 404, 'DEPT_NOT_FOUND');
    done(await api.post(PATH, { parentId: own }));
  });
});
