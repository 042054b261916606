import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TenantAdmission } from '../tenancy/tenant-access';
import { EntitlementController } from './entitlement/entitlement.controller';
import { EntitlementService } from './entitlement/entitlement.service';
import { QuotaCleaner } from './quota/quota-cleaner';
import { QuotaController } from './quota/quota.controller';
import { QuotaRepository } from './quota/quota.repository';
import { QuotaService } from './quota/quota.service';
import { UsedQuotasCheck } from './quota/uses-quota';
import { TenantStateCache } from './tenant-state-cache';
import { TenantRepository } from './tenant.repository';
import { TenantController } from './tenant.controller';
import { TenantListService, TenantService } from './tenant.service';

/** Tenants and their quotas, without routes. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    TenantService,
    TenantListService,
    TenantRepository,
    TenantStateCache,
    EntitlementService,
    QuotaService,
    QuotaRepository,
    QuotaCleaner,
    UsedQuotasCheck,
    { provide: TenantAdmission, useExisting: TenantStateCache },
  ],
  exports: [
    TenantService,
    TenantListService,
    QuotaService,
    EntitlementService,
    TenantStateCache,
    TenantAdmission,
  ],
})
export class TenantServicesModule {}

/** Tenants with their routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({
  imports: [TenantServicesModule],
  controllers: [TenantController, QuotaController, EntitlementController],
  exports: [TenantServicesModule],
})
export class TenantModule {}
