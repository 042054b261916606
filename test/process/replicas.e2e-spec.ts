import { createServiceDataSource } from '../../src/server/service-data-source';
import { parseDatabaseUrl } from '../../src/database/database-url';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { ChildService } from '../support/child-service';
import { emptyDatabase } from '../support/test-database';

describe('three replicas that start together', () => {
  const startThree = async (database: ThrowAwayDatabase): Promise<void> => {
    const services = await Promise.all(Array.from({ length: 3 }, () => ChildService.start(database)));
    expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0, 0]);
  };

  it('three replicas that start on an empty or an older database migrate once, make one superadmin, and all become ready', async () => {
    const database = await emptyDatabase();
    await startThree(database);
    const dataSource = await (await createServiceDataSource(parseDatabaseUrl(database.url))).initialize();
    const counts = async () => [
      await dataSource.manager.countBy(AccountEntity, { roles: 'superadmin' }),
      await dataSource.manager.count(AccountEntity),
      await dataSource.manager.count(TenantryTenant),
      (await dataSource.query<unknown[]>('SELECT name FROM tenantry_migrations')).length,
    ];
    expect(await counts()).toEqual([1, 1, 1, dataSource.migrations.length]);
    // No more: the one before may not run while replicas of an older version do.
    for (let n = 0; n < 2; n += 1) await dataSource.undoLastMigration();
    await startThree(database);
    expect(await counts()).toEqual([1, 1, 1, dataSource.migrations.length]);
    await dataSource.destroy();
    await database.drop();
  });
});
