import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Resource } from '../resource/resource';
import { MANAGERS, READERS } from '../tenancy/roles';
import { TenantAdmission } from '../tenancy/tenant-access';
import { EntitlementController } from './entitlement/entitlement.controller';
import { EntitlementService } from './entitlement/entitlement.service';
import { QuotaCleaner } from './quota/quota-cleaner';
import { JOURNALLED_TENANT } from './locked-tenant-tree';
import { QuotaController } from './quota/quota.controller';
import { TenantryQuota, TenantryQuotaEntry, TenantryReservation } from './quota/quota.entity';
import { QuotaRepository } from './quota/quota.repository';
import { QuotaService } from './quota/quota.service';
import { UsedQuotasCheck } from './quota/uses-quota';
import { TenantStateCache } from './tenant-state-cache';
import { TenantRepository } from './tenant.repository';
import { TenantController } from './tenant.controller';
import { TenantryTenant } from './tenant.entity';
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

const MODULES = { services: TenantServicesModule, routes: TenantModule };

export const TENANTS = {
  ...MODULES,
  tag: {
    name: 'Tenants',
    description: "The caller's own tenant, to read it, and every tenant below, to change it.",
  },
  permissions: {
    'tenant:read': { roles: MANAGERS, description: 'Read tenants and their history' },
    'tenant:write': { roles: MANAGERS, description: 'Create, change, move, delete and restore tenants' },
  },
  entities: [TenantryTenant],
  journal: JOURNALLED_TENANT,
} satisfies Resource;

export const ENTITLEMENTS = {
  ...MODULES,
  tag: {
    name: 'Entitlements',
    description: 'What a tenant may do now: its state, service period, menus, accounts, quotas and rules.',
  },
  permissions: {
    'entitlement:read': { roles: READERS, description: 'Read what a tenant may do now' },
  },
} satisfies Resource;

export const QUOTAS = {
  ...MODULES,
  tag: {
    name: 'Quotas',
    description: 'What a tenant may use up: spend, reserve, commit, release and refund, each once per key.',
  },
  permissions: {
    'quota:read': { roles: READERS, description: 'Read quotas and their ledger' },
    'quota:spend': { roles: MANAGERS, description: 'Spend, reserve and refund quotas' },
  },
  entities: [TenantryQuota, TenantryQuotaEntry, TenantryReservation],
} satisfies Resource;
