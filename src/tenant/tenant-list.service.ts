import { Injectable } from '@nestjs/common';
import { Cursors, filtersOf, type PageView } from '../web/page';
import type { RequestContext } from '../tenancy/request-context';
import { Clock } from '../time/clock';
import { ZonedTime } from '../time/zoned-time';
import type { TenantListQuery, TenantRowDto } from './tenant-list.dto';
import { toTenantRow } from './tenant.mapper';
import { TenantRepository } from './tenant.repository';

/** Finding tenants. */
@Injectable()
export class TenantListService {
  constructor(
    private readonly tenants: TenantRepository,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the tenants at or below the caller's that match, in the order of their ids. */
  async list(ctx: RequestContext, query: TenantListQuery): Promise<PageView<TenantRowDto>> {
    const tenants = this.tenants.in(ctx);
    const today = this.time.day(this.clock.now());
    const page = await this.cursors.page(['tenant', ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      tenants.findPage(query, today, after, limit),
    );
    const parents = new Set(await tenants.findParents(page.rows.map(({ tenantId }) => tenantId)));
    const toRow = (row: (typeof page.rows)[number]) => toTenantRow(row, today, parents.has(row.tenantId));
    return { ...page, rows: page.rows.map(toRow) };
  }
}
