import { Module } from '@nestjs/common';
import { TenantAdmission } from '../tenancy/tenant-admission';
import { TenantGate } from './tenant-gate';

@Module({
  providers: [TenantGate, { provide: TenantAdmission, useExisting: TenantGate }],
  exports: [TenantAdmission],
})
export class TenantModule {}
