import type { DataSourceOptions } from 'typeorm';
import { CHANGES, WEBHOOKS } from './changes/journal.module';
import { TenantryCommit } from './database/commit-log';
import { migrations as common } from './database/migrations/index';
import { DataScopes } from './dept/data-scopes.service';
import { DEPTS } from './dept/dept.module';
import { DeptService } from './dept/dept.service';
import { DeptAdoption } from './dept/transfer/dept-adoption.service';
import { TenantryChange } from './journal/change-log';
import type { Resource } from './resource/resource';
import { QuotaService } from './tenant/quota/quota.service';
import { ENTITLEMENTS, QUOTAS, TENANTS } from './tenant/tenant.module';
import { TenantService } from './tenant/tenant.service';

/** The resources of the library, in the order in which a person meets them. A new one is added here. */
export const resources = {
  depts: DEPTS,
  tenants: TENANTS,
  entitlements: ENTITLEMENTS,
  quotas: QUOTAS,
  changes: CHANGES,
  webhooks: WEBHOOKS,
};

/** The services that a host's transaction offers, under these names. */
export const inTransaction = {
  depts: DeptService,
  deptAdoption: DeptAdoption,
  dataScopes: DataScopes,
  tenants: TenantService,
  quotas: QuotaService,
};

export const allResources: readonly Resource[] = Object.values(resources);

/** Modules of all resources; some have one in common. */
export const serviceModules = [...new Set(allResources.map(({ services }) => services))];
export const routeModules = [...new Set(allResources.map(({ routes }) => routes))];

/** Every entity of the library, for every database; a host adds them to its own DataSource. */
export const entities = [
  ...allResources.flatMap((resource) => resource.entities ?? []),
  TenantryCommit,
  TenantryChange,
];

/** The history of the library's tables, for every database; a host adds it to its own DataSource. */
export const migrations = [...common, ...allResources.flatMap((resource) => resource.migrations ?? [])];

/** Of versions before 0.4, where the types of columns depended on the database. */
export function entitiesFor(_type: DataSourceOptions['type']): typeof entities {
  return entities;
}
