import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { IdempotentRequest } from '../database/idempotent-request';
import { notBeforeText } from '../web/fields';
import { HistoryErrors, HttpErrors } from '../errors/http.errors';
import type { ChangeDto } from '../web/change.dto';
import { ChangeReader } from '../journal/change-reader.repository';
import { toChangeView } from '../journal/change-view';
import type { PageQuery } from '../web/page-query.dto';
import { mergePatch } from '../resource/fields';
import { filtersOf, PagedList, type PageView } from '../database/page';
import { refuseStale, type Expected } from '../database/revision';
import type { RequestContext } from '../tenancy/request-context';
import { isWithin, MAX_DEPTH, placeUnder } from '../database/tree-path';
import { Clock } from '../time/clock';
import { ZonedTime } from '../time/zoned-time';
import type { LockedTenantTree, TenantPlace } from './locked-tenant-tree';
import { isTenantCode, PLATFORM_TENANT } from '../tenancy/tenant-code';
import { Ceilings } from './ceilings';
import { TenantStateCache } from './tenant-state-cache';
import type { TenantState } from './tenant-state';
import type { TenantDto, TenantListQuery, TenantRowDto } from './tenant-view.dto';
import type { CreateTenantDto, RestoreTenantDto, TenantChangesDto, UpdateTenantDto } from './tenant.dto';
import type { TenantryTenant } from './tenant.entity';
import { TenantErrors } from '../tenancy/tenant.errors';
import { toTenantDto, toTenantFields, toTenantRow, toTenantSent } from './tenant.mapper';
import { TenantRepository } from './tenant.repository';

const TENANTS = new PagedList('tenant', ['digits']);

/** The rules of the tree of tenants. */
@Injectable()
export class TenantService {
  constructor(
    private readonly tenants: TenantRepository,
    private readonly states: TenantStateCache,
    private readonly ceilings: Ceilings,
  ) {}

  async get(ctx: RequestContext, id: string): Promise<TenantDto> {
    return toTenantDto(await this.tenants.in(ctx).get(id));
  }

  /** The caller's own tenant. */
  async getOwn(ctx: RequestContext): Promise<TenantDto> {
    const tenant = await this.tenants.in(ctx).findByCode(ctx.tenantId);
    if (!tenant) throw TenantErrors.DELETED();
    return toTenantDto(tenant);
  }

  /** What the caller's own tenant is called, and the menus that it may use. */
  async getOwnPackage(ctx: RequestContext): Promise<Pick<TenantryTenant, 'tenantName' | 'menuIds'>> {
    const tenant = await this.tenants.in(ctx).findOwnPackage();
    if (!tenant) throw TenantErrors.DELETED();
    return tenant;
  }

  stateOf(ctx: RequestContext): Promise<TenantState> {
    return this.states.stateOf(ctx.tenantId);
  }

  /** The caller in a tenant below its own. */
  async contextBelow(ctx: RequestContext, code: string): Promise<RequestContext> {
    if (!isTenantCode(code) || !(await this.tenants.in(ctx).findByCode(code))) throw TenantErrors.NOT_FOUND();
    return ctx.below(code);
  }

  /** Gives the id of the new tenant. */
  async create(ctx: RequestContext, dto: CreateTenantDto, once?: IdempotentRequest): Promise<string> {
    const fields = toTenantFields(dto);
    const create = async (tree: LockedTenantTree): Promise<string> => {
      const place = await placeFor(tree, dto.tenantParent ?? ctx.tenantId);
      const id = await tree.nextId();
      const tenantId = await tree.nextCode();
      await this.ceilings.checkAbove(tree, place.tenantParent, { tenantId, ...fields });
      await tree.add({ id, tenantId, ...fields, ...place });
      return id;
    };
    return this.tenants.transaction(ctx, create, once);
  }

  /** Replaces a tenant; with another `tenantParent` it moves there, with all that stands below it. Gives its new revision. */
  update(ctx: RequestContext, dto: UpdateTenantDto, expected?: Expected): Promise<number> {
    return this.#change(ctx, dto.id, dto, expected, () => dto);
  }

  /** Changes what the patch names, and resets what it sets to null; otherwise as `update` does. */
  patch(ctx: RequestContext, id: string, patch: TenantChangesDto, expected?: Expected): Promise<number> {
    return this.#change(ctx, id, patch, expected, (tenant) => {
      const merged = mergePatch(toTenantSent(tenant), patch) as unknown as CreateTenantDto;
      refuseEndBeforeStart(merged);
      return merged;
    });
  }

  async delete(ctx: RequestContext, id: string, expected?: Expected): Promise<void> {
    await this.tenants.transaction(ctx, async (tree) => {
      const tenant = await findBelow(ctx, tree, id);
      refuseStale(tenant, expected);
      if (await tree.hasChildren(tenant)) throw TenantErrors.HAS_CHILDREN({ ids: [id] });
      await tree.markDeleted(tenant);
    });
  }

  /** Makes a deleted tenant live again, under the parent that it had or another one. */
  async restore(
    ctx: RequestContext,
    id: string,
    { tenantParent }: RestoreTenantDto = {},
    once?: IdempotentRequest,
  ): Promise<void> {
    const restore = async (tree: LockedTenantTree): Promise<void> => {
      const tenant = await tree.findDeleted({ id });
      if (!tenant) throw (await tree.find(id)) ? HistoryErrors.NOT_DELETED() : TenantErrors.NOT_FOUND();
      const parent = tenantParent ?? tenant.tenantParent ?? '';
      if (!(await tree.findByCode(parent))) {
        // Its old parent can be restored first; of another one, no more is told than that it is not there.
        const old = tenantParent == null ? await tree.findDeleted({ tenantId: parent }) : null;
        throw TenantErrors.PARENT_GONE({ ids: old ? [old.id] : [] });
      }
      const place = await placeFor(tree, parent);
      await this.ceilings.checkAbove(tree, parent, tenant);
      await tree.restore(tenant, place);
    };
    return this.tenants.transaction(ctx, restore, once);
  }

  async #change(
    ctx: RequestContext,
    id: string,
    { tenantParent }: TenantChangesDto,
    expected: Expected,
    fieldsOf: (tenant: TenantryTenant) => CreateTenantDto,
  ): Promise<number> {
    return this.tenants.transaction(ctx, async (tree) => {
      const tenant = await findBelow(ctx, tree, id);
      refuseStale(tenant, expected);
      const fields = toTenantFields(fieldsOf(tenant), tenant.quota);
      const parent = tenantParent ?? tenant.tenantParent;
      const place =
        parent !== null && parent !== tenant.tenantParent ? await placeFor(tree, parent, tenant) : undefined;
      const licensed = { tenantId: tenant.tenantId, menuIds: fields.menuIds, quota: fields.quota };
      if (place || !isDeepStrictEqual(licenceOf(licensed), licenceOf(tenant))) {
        await this.ceilings.checkAbove(tree, parent ?? PLATFORM_TENANT, licensed);
        await this.ceilings.checkBelow(tree, licensed);
      }
      return tree.replace(tenant, fields, place);
    });
  }
}

/** Finding tenants. */
@Injectable()
export class TenantListService {
  constructor(
    private readonly tenants: TenantRepository,
    private readonly journal: ChangeReader,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
  ) {}

  /** A page of all that was done to one tenant while it was at or below the caller's, the newest first. */
  async history(ctx: RequestContext, id: string, query: PageQuery): Promise<PageView<ChangeDto>> {
    const page = await this.journal.findHistory(ctx, 'tenant', id, query);
    if (page.rows.length === 0 && !(await this.tenants.in(ctx).everHad(id))) throw TenantErrors.NOT_FOUND();
    return { ...page, rows: page.rows.map((entry) => toChangeView(entry, this.time, ctx.tenantId)) };
  }

  /** A page of the tenants at or below the caller's that match, in the order of their ids. */
  async list(ctx: RequestContext, query: TenantListQuery): Promise<PageView<TenantRowDto>> {
    const tenants = this.tenants.in(ctx);
    const today = this.time.day(this.clock.now());
    const page = await TENANTS.page([ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      tenants.findPage(query, today, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toTenantRow(row, today, Number(row.hasChildren) === 1)) };
  }
}

/** What the ceilings are about. */
function licenceOf({ menuIds, quota }: Pick<TenantryTenant, 'menuIds' | 'quota'>): object {
  return { menuIds, quota: Object.assign({}, quota) };
}

/** A patch may change one end of the service period only; it is held against the other here. */
function refuseEndBeforeStart({ startTime, endTime }: CreateTenantDto): void {
  if (startTime == null || endTime == null || startTime <= endTime) return;
  throw HttpErrors.INVALID({ fields: [{ field: 'endTime', message: notBeforeText('startTime') }] });
}

/** A tenant that the caller may change: one below its own. The platform's is below none. */
async function findBelow(ctx: RequestContext, tree: LockedTenantTree, id: string): Promise<TenantryTenant> {
  const tenant = await tree.find(id);
  if (!tenant) throw TenantErrors.NOT_FOUND();
  if (tenant.tenantId === ctx.tenantId) throw TenantErrors.OWN();
  return tenant;
}

async function placeFor(tree: LockedTenantTree, code: string, moving?: TenantryTenant): Promise<TenantPlace> {
  const parent = await tree.findByCode(code);
  if (!parent) throw TenantErrors.PARENT_NOT_FOUND();
  if (moving && isWithin(moving, parent)) throw TenantErrors.CYCLE();
  const place = { tenantParent: code, ...placeUnder(parent) };
  const height = moving ? await tree.findHeight(moving) : 0;
  if (place.depth + height > MAX_DEPTH) throw TenantErrors.TOO_DEEP();
  return place;
}
