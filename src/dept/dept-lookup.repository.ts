import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../database/unit-of-work';
import { TenantLookup } from '../tenancy/tenant-lookup.repository';
import { LIVE } from './dept.conditions';
import { DeptEntity } from './dept.entity';

/** Departments by their ids. */
@Injectable()
export class DeptLookup extends TenantLookup<DeptEntity> {
  constructor(unitOfWork: UnitOfWork) {
    super(unitOfWork, { entity: DeptEntity, id: 'deptId', where: LIVE });
  }
}
