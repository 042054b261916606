import { Module } from '@nestjs/common';
import { TenantModule } from '../tenant/tenant.module';
import { DeptListController } from './dept-list.controller';
import { DeptListService } from './dept-list.service';
import { DeptController } from './dept.controller';
import { DeptRepository } from './dept.repository';
import { DeptService } from './dept.service';
import { DeptTransferController } from './transfer/dept-transfer.controller';
import { DeptTransferService } from './transfer/dept-transfer.service';

@Module({
  imports: [TenantModule],
  controllers: [DeptTransferController, DeptListController, DeptController],
  providers: [DeptService, DeptListService, DeptTransferService, DeptRepository],
  exports: [DeptService, DeptListService, DeptTransferService],
})
export class DeptModule {}
