import { Module } from '@nestjs/common';
import { DataScopes } from './data-scopes.service';
import { DeptListService } from './dept-list.service';
import type { Resource } from '../resource/resource';
import { PART_MANAGERS, READERS } from '../tenancy/roles';
import { DeptController } from './dept.controller';
import { TenantryDept } from './dept.entity';
import { DeptRepository } from './dept.repository';
import { DeptService } from './dept.service';
import { JOURNALLED_DEPT } from './locked-dept-tree';
import { DeptAsOf } from './history/dept-as-of';
import { DeptHistoryController } from './history/dept-history.controller';
import { DeptHistory } from './history/dept-history.service';
import { DeptAdoption } from './transfer/dept-adoption.service';
import { DeptTransferController } from './transfer/dept-transfer.controller';
import { DeptTransferService } from './transfer/dept-transfer.service';

/** Departments without routes. */
@Module({
  providers: [
    DeptService,
    DataScopes,
    DeptListService,
    DeptTransferService,
    DeptAdoption,
    DeptHistory,
    DeptAsOf,
    DeptRepository,
  ],
  exports: [DeptService, DataScopes, DeptListService, DeptTransferService, DeptAdoption, DeptHistory],
})
export class DeptServicesModule {}

/** Departments with their routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({
  imports: [DeptServicesModule],
  controllers: [DeptTransferController, DeptHistoryController, DeptController],
  exports: [DeptServicesModule],
})
export class DeptModule {}

export const DEPTS = {
  tag: { name: 'Departments', description: "The department tree of the caller's tenant." },
  permissions: {
    'dept:read': { roles: READERS, description: 'Read departments, now and as they were' },
    'dept:write': {
      roles: PART_MANAGERS,
      description: 'Create, change, move, delete and restore departments',
    },
  },
  entities: [TenantryDept],
  services: DeptServicesModule,
  routes: DeptModule,
  journal: JOURNALLED_DEPT,
} satisfies Resource;
