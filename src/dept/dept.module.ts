import { Module } from '@nestjs/common';
import { TenantModule } from '../tenant/tenant.module';
import { DeptController } from './dept.controller';
import { DeptRepository } from './dept.repository';
import { DeptService } from './dept.service';

@Module({
  imports: [TenantModule],
  controllers: [DeptController],
  providers: [DeptService, DeptRepository],
  exports: [DeptService],
})
export class DeptModule {}
