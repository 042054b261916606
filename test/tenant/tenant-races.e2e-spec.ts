import type { DataSource } from 'typeorm';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import { aDept, type Answer, type ApiClient, aTenant } from '../../src/server/testing';
import { aTenantRow } from '../support/seeds';
import { tenantTreeProblems, treeProblems } from '../support/tree-check';
import { TwoServices } from '../support/two-services';
import { times } from '../support/long-run';
import { resendWhenBusy } from '../support/when-busy';

const PATH = '/system/tenant-api';
/** Creates at once. */
const MANY = times(50, 20);
const ROUNDS = times(200, 30);

describe('changes of tenants that race, from two processes', () => {
  let two: TwoServices;
  let dataSource: DataSource;
  let left: ApiClient;
  let right: ApiClient;

  beforeAll(async () => {
    two = await TwoServices.start();
    dataSource = two.dataSource;
    [left, right] = two.as({ roles: ['superadmin'] });
  });
  afterEach(async () => {
    expect(await tenantTreeProblems(dataSource)).toEqual([]);
  });
  afterAll(() => two.stop());

  /** Seeds below each other: the last is a child of the one before. */
  async function chain(length: number): Promise<TenantEntity[]> {
    const made: TenantEntity[] = [];
    for (let n = 0; n < length; n += 1) {
      const above = made.at(-1);
      const place = above && {
        tenantParent: above.tenantId,
        ancestors: `${above.ancestors},${above.tenantId}`,
        depth: above.depth + 1,
      };
      const tenantId = await aTenantRow(dataSource, place);
      made.push(await dataSource.manager.findOneByOrFail(TenantEntity, { tenantId }));
    }
    return made;
  }

  const moved = (tenant: TenantEntity, parent: TenantEntity) => ({
    id: tenant.id,
    tenantName: 'moved',
    tenantParent: parent.tenantId,
  });

  it('opposing moves, far apart in the tree: one of them wins', async () => {
    for (let n = 0; n < ROUNDS; n += 1) {
      const [[a, a2], [b, b2]] = [await chain(2), await chain(2)];
      const answers = await Promise.all([
        left.put(PATH, moved(a!, n % 2 ? b! : b2!)),
        right.put(PATH, moved(b!, n % 2 ? a! : a2!)),
      ]);
      const reasons = answers.map(({ status, refusal }) => (status === 200 ? '' : refusal.reason)).sort();
      expect(reasons).toEqual(['', 'TENANT_CYCLE']);
    }
  });

  it('a tenant is deleted while a child is created: one of them wins', async () => {
    for (let n = 0; n < ROUNDS; n += 1) {
      const [parent] = await chain(1);
      const [created, deleted] = await Promise.all([
        left.post(PATH, { tenantName: 'child', tenantParent: parent!.tenantId }),
        right.delete(`${PATH}/${parent!.id}`),
      ]);
      expect([
        [200, 409],
        [404, 200],
      ]).toContainEqual([created.status, deleted.status]);
    }
  });

  it('a tenant is deleted while it gets a department: none is left in a deleted tenant unseen', async () => {
    for (let n = 0; n < times(50, 20); n += 1) {
      const [tenant] = await chain(1);
      const user = two.services[0].as({ tenantId: tenant!.tenantId });
      const [made, deleted] = await Promise.all([
        user.post('/system/dept-api', {}),
        right.delete(`${PATH}/${tenant!.id}`),
      ]);
      expect(deleted.status).toBe(200);
      expect([200, 403]).toContain(made.status);
    }
    expect(await treeProblems(dataSource)).toEqual([]);
  });

  it('parallel creates all succeed, and their ids and codes all differ', async () => {
    const before = await dataSource.manager.count(TenantEntity);
    const create = (api: ApiClient, tenantName: string): Promise<Answer> =>
      resendWhenBusy(() => api.post(PATH, { tenantName }));
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: MANY }, (_, n) => create(n % 2 ? left : right, `${n}`)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: MANY }, () => 200));
      expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(MANY);
    }
    const rows = await dataSource.manager.find(TenantEntity);
    expect(rows).toHaveLength(before + 4 * MANY);
    expect(new Set(rows.map(({ tenantId }) => tenantId)).size).toBe(rows.length);
  });

  it('departments of the platform go on while tenants are made', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => aTenant(left)),
      ...Array.from({ length: 20 }, () => aDept(right)),
    ]);
    expect(answers).toHaveLength(40);
  });
});
