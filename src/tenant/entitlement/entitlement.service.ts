import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../tenancy/request-context';
import { Clock } from '../../time/clock';
import { ZonedTime } from '../../time/zoned-time';
import { QuotaRepository } from '../quota/quota.repository';
import { toTenantDto } from '../tenant.mapper';
import { tenantState } from '../tenant-state';
import { TenantRepository } from '../tenant.repository';
import { menusOf, type TenantryTenant } from '../tenant.entity';
import type { EntitlementDto } from './entitlement.dto';
import { EntitlementErrors } from './entitlement.errors';

const DAY_MS = 24 * 60 * 60 * 1000;

/** One answer to "may this tenant do this now?" */
@Injectable()
export class EntitlementService {
  constructor(
    private readonly tenants: TenantRepository,
    private readonly quotas: QuotaRepository,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
  ) {}

  /** Of the caller's tenant. */
  async of(ctx: RequestContext): Promise<EntitlementDto> {
    return this.#entitlementOf(ctx, await this.tenants.in(ctx).getOwn());
  }

  /** Of a tenant at or below the caller's, by its internal id. */
  async ofTenant(ctx: RequestContext, id: string): Promise<EntitlementDto> {
    const tenant = await this.tenants.in(ctx).get(id);
    return this.#entitlementOf(ctx.below(tenant.tenantId), tenant);
  }

  /** Whether the package of the caller's tenant has this menu. */
  async hasMenu(ctx: RequestContext, menuId: number): Promise<boolean> {
    const own = await this.tenants.in(ctx).findOwnPackage();
    return own !== null && menusOf(own).includes(menuId);
  }

  async requireMenus(ctx: RequestContext, menuIds: readonly number[]): Promise<void> {
    const own = await this.tenants.in(ctx).findOwnPackage();
    const licensed = own ? menusOf(own) : [];
    const missing = menuIds.filter((menuId) => !licensed.includes(menuId));
    if (missing.length > 0) throw EntitlementErrors.MENU_NOT_LICENSED({ ids: missing });
  }

  async #entitlementOf(ctx: RequestContext, tenant: TenantryTenant): Promise<EntitlementDto> {
    const { tenantId, startTime, endTime, accountCount } = tenant;
    const today = this.time.day(this.clock.now());
    return {
      tenantId,
      state: tenantState(tenant, today),
      startTime,
      endTime,
      daysLeft: endTime === null ? null : Math.max(0, daysBetween(today, endTime)),
      menuIds: menusOf(tenant),
      accounts: { limit: accountCount, used: await this.tenants.in(ctx).countOwnUsers() },
      quotas: await this.quotas.in(ctx).findAll(tenant),
      rules: toTenantDto(tenant).ruleBo,
    };
  }
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}
