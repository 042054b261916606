import { Injectable } from '@nestjs/common';
import { PreparedReads } from '../database/prepared-reads';
import { TenantryDataSource } from '../database/tenantry.data-source';
import { TenantLookup } from '../tenancy/tenant-lookup.repository';
import { LIVE } from './dept.conditions';
import { DeptEntity } from './dept.entity';

/** Departments by their ids. */
@Injectable()
export class DeptLookup extends TenantLookup<DeptEntity> {
  constructor(reads: PreparedReads, dataSource: TenantryDataSource) {
    super(reads, dataSource, { entity: DeptEntity, id: 'deptId', where: LIVE });
  }
}
