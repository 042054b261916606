import { Module } from '@nestjs/common';
import { DeptListController } from './dept-list.controller';
import { DeptServicesModule } from './dept-services.module';
import { DeptController } from './dept.controller';
import { DeptTransferController } from './transfer/dept-transfer.controller';

/** Departments with their routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({
  imports: [DeptServicesModule],
  controllers: [DeptTransferController, DeptListController, DeptController],
  exports: [DeptServicesModule],
})
export class DeptModule {}
