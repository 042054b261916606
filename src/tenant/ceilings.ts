import { Injectable } from '@nestjs/common';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { CeilingErrors } from './entitlement/entitlement.errors';
import type { LockedTenantTree } from './locked-tenant-tree';
import { CONTRACT_QUOTAS, type ContractQuota } from './quota/quota-kinds';
import { menusOf, type QuotaColumns, type TenantryTenant } from './tenant.entity';

/** Which limits of a parent hold for its children. */
export interface CeilingOptions {
  /** The menus of a child must be among its parent's. */
  readonly packages?: boolean;
  /** The totals of all children together must be at most their parent's. */
  readonly quotas?: boolean;
}

type Licensed = Pick<TenantryTenant, 'tenantId' | 'menuIds'> & {
  readonly quota: Pick<QuotaColumns, ContractQuota>;
};

/**
 * What a parent has limits what its children may have, where that is switched on. The platform has no limits of its own. All of it
 * is checked while the tree of tenants is locked, so it is true at every commit.
 */
@Injectable()
export class Ceilings {
  readonly packages: boolean;
  readonly quotas: boolean;

  constructor({ packages = false, quotas = false }: CeilingOptions = {}) {
    this.packages = packages;
    this.quotas = quotas;
  }

  /** Refuses a tenant that would have more than its parent. */
  async checkAbove(tree: LockedTenantTree, parentCode: string, tenant: Licensed): Promise<void> {
    if (parentCode === PLATFORM_TENANT || !(this.packages || this.quotas)) return;
    const parent = await tree.findByCode(parentCode);
    if (!parent) return;
    if (this.packages) refuseMoreMenus(parent, [tenant]);
    if (!this.quotas) return;
    const siblings = await tree.findChildren(parentCode);
    refuseMoreQuotas(parent, [...siblings.filter(({ tenantId }) => tenantId !== tenant.tenantId), tenant]);
  }

  /** Refuses a tenant that would have less than its children. */
  async checkBelow(tree: LockedTenantTree, tenant: Licensed): Promise<void> {
    if (tenant.tenantId === PLATFORM_TENANT || !(this.packages || this.quotas)) return;
    const children = await tree.findChildren(tenant.tenantId);
    if (this.packages) refuseMoreMenus(tenant, children);
    if (this.quotas) refuseMoreQuotas(tenant, children);
  }
}

function refuseMoreMenus(parent: Licensed, children: readonly Licensed[]): void {
  const allowed = new Set(menusOf(parent));
  const excess = children.flatMap((child) => menusOf(child)).filter((menu) => !allowed.has(menu));
  if (excess.length > 0) throw CeilingErrors.PACKAGE({ ids: [...new Set(excess)].sort((a, b) => a - b) });
}

function refuseMoreQuotas(parent: Licensed, children: readonly Licensed[]): void {
  const fields = CONTRACT_QUOTAS.filter((kind) =>
    exceeds(
      parent.quota[kind],
      children.map(({ quota }) => quota[kind]),
    ),
  ).map((kind) => ({ field: `quotaBo.${kind}`, message: CeilingErrors.QUOTA.row }));
  if (fields.length > 0) throw CeilingErrors.QUOTA({ fields });
}

/** -1 is unlimited. */
function exceeds(total: number, parts: readonly number[]): boolean {
  if (total < 0) return false;
  return parts.some((part) => part < 0) || parts.reduce((sum, part) => sum + part, 0) > total;
}
