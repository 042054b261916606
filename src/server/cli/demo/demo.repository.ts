import { Not, type DataSource } from 'typeorm';
import { DeptEntity } from '../../../dept/dept.entity';
import { PLATFORM_TENANT } from '../../../tenancy/tenant-code';
import { TenantEntity } from '../../../tenant/tenant.entity';
import { AccountEntity } from '../../../tenant/account.entity';

/** What a database holds beside the platform's tenant and its account `admin`, deleted rows included. */
export interface Content {
  readonly tenants: number;
  readonly depts: number;
  readonly accounts: number;
}

export async function findContent({ manager }: DataSource): Promise<Content> {
  const admin = { tenantId: PLATFORM_TENANT, username: 'admin' };
  return {
    tenants: await manager.countBy(TenantEntity, { tenantId: Not(PLATFORM_TENANT) }),
    depts: await manager.count(DeptEntity),
    accounts: (await manager.count(AccountEntity)) - (await manager.countBy(AccountEntity, admin)),
  };
}
