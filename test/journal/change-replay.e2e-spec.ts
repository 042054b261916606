import { TenantryChange } from '../../src/journal/change-log';
import { TenantryDept } from '../../src/dept/dept.entity';
import type { ApiClient } from '../../src/server/testing';
import { Chance } from '../support/chance';
import { Follower } from '../support/follower';
import { times } from '../support/long-run';
import { writeAtRandom } from '../support/random-writes';
import { aTenantRow } from '../support/seeds';
import { PAIRS, TwoServices } from '../support/two-services';

describe.each(PAIRS)('followers while two processes write: %s', (pair) => {
  let two: TwoServices;

  beforeAll(async () => {
    two = await TwoServices.start(pair);
  });
  afterAll(() => two.stop());

  it('followers skip nothing, and see nothing twice or out of order, while two processes write', async () => {
    const tenantId = await aTenantRow(two.dataSource);
    const [left, right] = two.as({ tenantId });
    let isOver = false;
    const follow = async (api: ApiClient): Promise<Follower> => {
      const follower = new Follower(api, undefined, { wait: 1 });
      while (!isOver) await follower.catchUp(5);
      return follower.catchUp(5);
    };
    const following = [follow(left), follow(right)];
    const write = (_: unknown, n: number) =>
      writeAtRandom(n % 2 ? left : right, new Chance(n), times(40, 10), []);
    await Promise.all(Array.from({ length: 12 }, write));
    isOver = true;
    const { manager } = two.dataSource;
    const written = await manager.countBy(TenantryChange, { tenantId });
    const rows = await manager.findBy(TenantryDept, { tenantId, delFlag: '0' });
    const fields = ({ deptId, parentId, deptName, orderNum, leader, phone }: TenantryDept) =>
      [String(deptId), expect.objectContaining({ parentId, deptName, orderNum, leader, phone })] as const;
    for (const follower of await Promise.all(following)) {
      expect(follower.problems).toEqual([]);
      expect(follower.changes).toHaveLength(written);
      expect(follower.of('dept')).toEqual(new Map(rows.map(fields)));
    }
  });
});
