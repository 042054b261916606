import { Module } from '@nestjs/common';
import { TenantAdmission } from '../tenancy/tenant-access';
import { TenantFactsRepository } from './tenant-facts.repository';
import { TenantGate } from './tenant-state-cache';
import { TenantListService } from './tenant-list.service';
import { TenantRepository } from './tenant.repository';
import { TenantService } from './tenant.service';

/** Tenants without routes. */
@Module({
  providers: [
    TenantService,
    TenantListService,
    TenantRepository,
    TenantFactsRepository,
    TenantGate,
    { provide: TenantAdmission, useExisting: TenantGate },
  ],
  exports: [TenantService, TenantListService, TenantGate, TenantAdmission],
})
export class TenantServicesModule {}
