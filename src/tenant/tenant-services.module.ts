import { Module } from '@nestjs/common';
import { TenantAdmission } from '../tenancy/tenant-access';
import { TenantFactsRepository } from './tenant-facts.repository';
import { TenantStateCache } from './tenant-state-cache';
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
    TenantStateCache,
    { provide: TenantAdmission, useExisting: TenantStateCache },
  ],
  exports: [TenantService, TenantListService, TenantStateCache, TenantAdmission],
})
export class TenantServicesModule {}
