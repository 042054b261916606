import { Module } from '@nestjs/common';
import { DeptListService } from './dept-list.service';
import { DeptLookup } from './dept-lookup.repository';
import { DeptRepository } from './dept.repository';
import { DeptService } from './dept.service';
import { DeptTransferService } from './transfer/dept-transfer.service';

/** Departments without routes. */
@Module({
  providers: [DeptService, DeptListService, DeptTransferService, DeptRepository, DeptLookup],
  exports: [DeptService, DeptListService, DeptTransferService],
})
export class DeptServicesModule {}
