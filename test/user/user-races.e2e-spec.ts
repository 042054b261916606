import type { DataSource } from 'typeorm';
import { parseDatabaseUrl } from '../../src/config/database-url';
import { createDataSource } from '../../src/database/data-source';
import { DeptEntity } from '../../src/dept/dept.entity';
import { AccountEntity } from '../../src/user/account.entity';
import { ChildService } from '../support/child-service';
import { aDept, aTenant, aUser } from '../support/seeds';
import { emptyDatabase, type TestDatabase } from '../support/test-database';

const ROUNDS = 200;

describe('accounts and departments that race, from two processes', () => {
  let database: TestDatabase;
  let services: [ChildService, ChildService];
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await emptyDatabase();
    services = [await ChildService.start(database), await ChildService.start(database)];
    dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await Promise.all(services.map((service) => service.stop()));
    await database.drop();
  });

  it('a department is deleted while a user joins it: one of them wins', async () => {
    const tenantId = await aTenant(dataSource);
    const [left, right] = [services[0].as({ tenantId }), services[1].as({ tenantId })];
    const userId = await aUser(left, { username: 'mover' });
    const outcomes = new Set<string>();
    for (let n = 0; n < ROUNDS; n += 1) {
      const deptId = await aDept(left);
      const [joined, deleted] = await Promise.all([
        left.put('/system/user-api', { userId, username: 'mover', deptId }),
        right.delete(`/system/dept-api/${deptId}`),
      ]);
      outcomes.add(`${joined.status} ${deleted.status}`);
      const dept = await dataSource.manager.findOneByOrFail(DeptEntity, { deptId });
      const member = await dataSource.manager.existsBy(AccountEntity, { userId, deptId });
      expect([dept.delFlag, member]).not.toEqual(['2', true]);
    }
    for (const outcome of outcomes) expect(['200 409', '404 200']).toContain(outcome);
  });
});
