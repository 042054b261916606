import { Module } from '@nestjs/common';
import { DeptListService } from './dept-list.service';
import { DeptController } from './dept.controller';
import { DeptRepository } from './dept.repository';
import { DeptService } from './dept.service';
import { DeptAsOf } from './history/dept-as-of';
import { DeptHistoryController } from './history/dept-history.controller';
import { DeptHistory } from './history/dept-history.service';
import { DeptTransferController } from './transfer/dept-transfer.controller';
import { DeptTransferService } from './transfer/dept-transfer.service';

/** Departments without routes. */
@Module({
  providers: [DeptService, DeptListService, DeptTransferService, DeptHistory, DeptAsOf, DeptRepository],
  exports: [DeptService, DeptListService, DeptTransferService, DeptHistory],
})
export class DeptServicesModule {}

/** Departments with their routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({
  imports: [DeptServicesModule],
  controllers: [DeptTransferController, DeptHistoryController, DeptController],
  exports: [DeptServicesModule],
})
export class DeptModule {}
