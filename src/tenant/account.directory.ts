import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import { AccountEntity } from './account.entity';
import { UserDirectory } from '../tenancy/tenant-access';

/** The service's own answer: its accounts. */
@Injectable()
export class AccountDirectory extends UserDirectory {
  override findOccupied(
    ctx: RequestContext,
    deptIds: readonly number[],
    manager: EntityManager,
  ): Promise<number[]> {
    const accounts = new TenantBound(manager, AccountEntity, ctx);
    return accounts.distinctIds('deptId', { deptId: In([...deptIds]), delFlag: '0' });
  }
}
