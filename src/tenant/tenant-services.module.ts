import { Module } from '@nestjs/common';
import { TenantAdmission } from '../tenancy/tenant-admission';
import { IdBlockRepository } from './id-block.repository';
import { TenantFactsRepository } from './tenant-facts.repository';
import { TenantGate } from './tenant-gate';
import { TenantIds } from './tenant-ids';
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
    TenantIds,
    IdBlockRepository,
    { provide: TenantAdmission, useExisting: TenantGate },
  ],
  exports: [TenantService, TenantListService, TenantGate, TenantAdmission],
})
export class TenantServicesModule {}
