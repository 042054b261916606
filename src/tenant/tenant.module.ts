import { Module } from '@nestjs/common';
import { TenantAdmission } from '../tenancy/tenant-access';
import { TenantStateCache } from './tenant-state-cache';
import { TenantRepository } from './tenant.repository';
import { TenantController } from './tenant.controller';
import { TenantListService, TenantService } from './tenant.service';

/** Tenants without routes. */
@Module({
  providers: [
    TenantService,
    TenantListService,
    TenantRepository,
    TenantStateCache,
    { provide: TenantAdmission, useExisting: TenantStateCache },
  ],
  exports: [TenantService, TenantListService, TenantStateCache, TenantAdmission],
})
export class TenantServicesModule {}

/** Tenants with their routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({ imports: [TenantServicesModule], controllers: [TenantController], exports: [TenantServicesModule] })
export class TenantModule {}
