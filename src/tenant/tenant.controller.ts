import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { IdempotencyKey, PathTextId, sameId, IfMatch } from '../web/params';
import { JsonBody, OptionalJsonBody, QueryParams } from '../web/input';
import { Operation } from '../web/operation.decorator';
import { OrganisationController } from '../web/organisation-controller';
import { MANAGERS } from '../tenancy/roles';
import type { IdempotentRequest } from '../database/idempotent-request';
import { IdempotencyErrors } from '../database/database.errors';
import { Changed, Created } from '../web/envelope';
import { PATCH_TYPES } from '../web/request';
import { ChangeDto } from '../web/change.dto';
import type { PageView } from '../database/page';
import { PageQuery } from '../web/page-query.dto';
import type { Expected } from '../database/revision';
import { HistoryErrors, RevisionErrors } from '../errors/http.errors';
import { Ctx, type RequestContext } from '../tenancy/request-context';
import { TenantDto, TenantListQuery, TenantRowDto } from './tenant-view.dto';
import { TenantListService, TenantService } from './tenant.service';
import { CreateTenantDto, PatchTenantDto, RestoreTenantDto, UpdateTenantDto } from './tenant.dto';
import { TenantErrors } from '../tenancy/tenant.errors';
import { CeilingErrors } from './entitlement/entitlement.errors';

/** Ids of tenants cannot be known before: people put in one that the list shows. */
const EXAMPLE_ID = '1099511627776000000';
const EXAMPLE = {
  tenantName: '示例科技',
  startTime: '2026-01-01',
  endTime: '2036-12-31',
  contactUserName: '张三',
  contactPhone: '13800138000',
  companyName: '示例科技有限公司',
  status: '0',
  accountCount: -1,
  packageBo: { menuIds: '1, 100, 101' },
  quotaBo: { enterpriseQuery: 500 },
};

const REPLACED =
  'A field that is not sent, or is null, gets its default. Only `tenantParent` and the four extra quotas stay as they are when they are not sent; a new parent moves the tenant with all tenants below it. Take an `id` from the list.';
const PATCHED =
  'Fields in the body are changed, null resets a field to its default; otherwise as `updateTenant`. Take an `id` from the list.';

const CHANGE = [
  TenantErrors.OWN,
  TenantErrors.NOT_FOUND,
  TenantErrors.PARENT_NOT_FOUND,
  TenantErrors.CYCLE,
  TenantErrors.TOO_DEEP,
  CeilingErrors.PACKAGE,
  CeilingErrors.QUOTA,
  RevisionErrors.STALE,
];

@OrganisationController('system/tenant-api', 'Tenants')
export class TenantController {
  constructor(
    private readonly tenants: TenantService,
    private readonly lists: TenantListService,
  ) {}

  @Post()
  @Operation({
    id: 'createTenant',
    summary: 'Create a child tenant',
    description: 'A field that is not sent, or is null, gets its default. `Location` names the new tenant.',
    body: { example: EXAMPLE },
    creates: true,
    tellsTag: true,
    roles: MANAGERS,
    permission: 'tenant:write',
    refusals: [
      TenantErrors.PARENT_NOT_FOUND,
      TenantErrors.TOO_DEEP,
      CeilingErrors.PACKAGE,
      CeilingErrors.QUOTA,
      IdempotencyErrors.REUSED,
    ],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: CreateTenantDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<Created> {
    return new Created(await this.tenants.create(ctx, dto, once));
  }

  @Get()
  @Operation({
    id: 'listTenants',
    summary: 'List your own tenant and those below it, page by page',
    description:
      'Tenants are sorted by their ids; all filters that are sent must match. Package, quotas and rules come only with the tenant itself.',
    roles: MANAGERS,
    permission: 'tenant:read',
    page: TenantRowDto,
    tellsChangeCursor: true,
    refusals: [],
  })
  list(@Ctx() ctx: RequestContext, @QueryParams() query: TenantListQuery): Promise<PageView<TenantRowDto>> {
    return this.lists.list(ctx, query);
  }

  @Get(':id')
  @Operation({
    id: 'getTenant',
    summary: 'Read a tenant: your own, or one below it',
    description:
      'It comes with its package, quotas and rules. A tenant outside of your own and those below it is refused like one that does not exist.',
    roles: MANAGERS,
    permission: 'tenant:read',
    data: TenantDto,
    refusals: [TenantErrors.NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @PathTextId() id: string): Promise<TenantDto> {
    return this.tenants.get(ctx, id);
  }

  @Get(':id/history')
  @Operation({
    id: 'getTenantHistory',
    summary: 'List what was done to a tenant, the newest first, also after it was deleted',
    description:
      'You see the time in which it was your own tenant or one below it. Each row has the changed fields before and after, who changed them and when.',
    roles: MANAGERS,
    permission: 'tenant:read',
    page: ChangeDto,
    refusals: [TenantErrors.NOT_FOUND],
  })
  history(
    @Ctx() ctx: RequestContext,
    @PathTextId() id: string,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<ChangeDto>> {
    return this.lists.history(ctx, id, query);
  }

  @Post(':id/restore')
  @Operation({
    id: 'restoreTenant',
    summary: 'Restore a deleted tenant',
    description:
      'It lives again under its old id and code, below the parent that it had or the one in the body, with its departments and accounts.',
    body: { example: {} },
    roles: MANAGERS,
    permission: 'tenant:write',
    refusals: [
      TenantErrors.NOT_FOUND,
      TenantErrors.PARENT_GONE,
      TenantErrors.TOO_DEEP,
      CeilingErrors.PACKAGE,
      CeilingErrors.QUOTA,
      HistoryErrors.NOT_DELETED,
      IdempotencyErrors.REUSED,
    ],
  })
  restore(
    @Ctx() ctx: RequestContext,
    @PathTextId() id: string,
    @OptionalJsonBody() dto: RestoreTenantDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<void> {
    return this.tenants.restore(ctx, id, dto, once);
  }

  @Put()
  @Operation({
    id: 'updateTenant',
    summary: 'Replace a tenant below your own, or move it with its subtree',
    description: REPLACED,
    body: { example: { id: EXAMPLE_ID, ...EXAMPLE } },
    tellsTag: true,
    roles: MANAGERS,
    permission: 'tenant:write',
    refusals: CHANGE,
  })
  async update(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: UpdateTenantDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    return new Changed(await this.tenants.update(ctx, dto, expected));
  }

  @Patch(':id')
  @Operation({
    id: 'patchTenant',
    summary: 'Change some fields of a tenant (JSON merge patch)',
    description: PATCHED,
    body: { as: PATCH_TYPES, example: { quotaBo: { enterpriseQuery: 1000 } } },
    tellsTag: true,
    roles: MANAGERS,
    permission: 'tenant:write',
    refusals: CHANGE,
  })
  async patch(
    @Ctx() ctx: RequestContext,
    @PathTextId() id: string,
    @JsonBody() dto: PatchTenantDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    return new Changed(await this.tenants.patch(ctx, sameId('id', id, dto.id), dto, expected));
  }

  @Delete(':id')
  @Operation({
    id: 'deleteTenant',
    summary: 'Delete a tenant below your own',
    description:
      'Deletion is logical, and refused while the tenant has child tenants. Take an `id` from the list.',
    roles: MANAGERS,
    permission: 'tenant:write',
    refusals: [TenantErrors.OWN, TenantErrors.NOT_FOUND, TenantErrors.HAS_CHILDREN, RevisionErrors.STALE],
  })
  delete(@Ctx() ctx: RequestContext, @PathTextId() id: string, @IfMatch() expected: Expected): Promise<void> {
    return this.tenants.delete(ctx, id, expected);
  }
}
