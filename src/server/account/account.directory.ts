import { In, type EntityManager } from 'typeorm';
import type { RequestContext } from '../../tenancy/request-context';
import { UserDirectory } from '../../tenancy/tenant-access';
import { TenantBound } from '../../tenancy/tenant-bound';
import { AccountEntity } from '../auth/account.entity';

const LIVE = { delFlag: '0' } as const;

/** The users of the service: its accounts. */
export class AccountDirectory extends UserDirectory {
  override findOccupied(
    ctx: RequestContext,
    deptIds: readonly number[],
    manager: EntityManager,
  ): Promise<number[]> {
    const accounts = new TenantBound(manager, AccountEntity, ctx);
    return accounts.distinctIds('deptId', { deptId: In([...deptIds]), ...LIVE });
  }

  override countUsers(ctx: RequestContext, manager: EntityManager): Promise<number> {
    return new TenantBound(manager, AccountEntity, ctx).count(LIVE);
  }
}
