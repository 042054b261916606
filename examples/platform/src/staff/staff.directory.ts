import { Injectable } from '@nestjs/common';
import { UserDirectory, type RequestContext } from 'tenantry';
import { In, type EntityManager } from 'typeorm';
import { StaffEntity } from './staff.entity.js';

/** Tells Tenantry which departments have people, so that they are not deleted, and how many a tenant has. */
@Injectable()
export class StaffDirectory extends UserDirectory {
  override async findOccupied(
    { tenantId }: RequestContext,
    deptIds: readonly number[],
    manager: EntityManager,
  ): Promise<number[]> {
    const staff = await manager.findBy(StaffEntity, { tenantId, deptId: In([...deptIds]) });
    return [...new Set(staff.flatMap(({ deptId }) => (deptId === null ? [] : [deptId])))];
  }

  override countUsers({ tenantId }: RequestContext, manager: EntityManager): Promise<number> {
    return manager.countBy(StaffEntity, { tenantId });
  }
}
