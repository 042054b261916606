import { DeptEntity } from '../../src/dept/dept.entity';
import { AccountEntity } from '../../src/tenant/account.entity';
import { aDept, aUser } from '../../src/server/testing';
import { aTenantRow } from '../support/seeds';
import { TwoServices } from '../support/two-services';
import { times } from '../support/long-run';

const ROUNDS = times(200, 30);

describe('accounts and departments that race, from two processes', () => {
  let two: TwoServices;

  beforeAll(async () => {
    two = await TwoServices.start();
  });
  afterAll(() => two.stop());

  it('a department is deleted while a user joins it: one of them wins', async () => {
    const tenantId = await aTenantRow(two.dataSource);
    const [left, right] = two.as({ tenantId });
    const userId = await aUser(left, { username: 'mover' });
    const outcomes = new Set<string>();
    for (let n = 0; n < ROUNDS; n += 1) {
      const deptId = await aDept(left);
      const [joined, deleted] = await Promise.all([
        left.put('/system/user-api', { userId, username: 'mover', deptId }),
        right.delete(`/system/dept-api/${deptId}`),
      ]);
      outcomes.add(`${joined.status} ${deleted.status}`);
      const dept = await two.dataSource.manager.findOneByOrFail(DeptEntity, { deptId });
      const member = await two.dataSource.manager.existsBy(AccountEntity, { userId, deptId });
      expect([dept.delFlag, member]).not.toEqual(['2', true]);
    }
    for (const outcome of outcomes) expect(['200 409', '404 200']).toContain(outcome);
  });
});
