import { Body, Delete, Get, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { IdempotencyKey } from '../api/idempotency-key.decorator';
import { Operation } from '../api/operation.decorator';
import { OrganisationController } from '../api/organisation-controller.decorator';
import { MANAGERS } from '../auth/roles';
import { Once } from '../database/once';
import { OnceErrors } from '../database/once.errors';
import { Created } from '../http/created';
import { TextIdPipe } from '../http/ids.pipe';
import { sameId } from '../http/same-id';
import type { PageView } from '../paging/page';
import { IfMatch } from '../revision/if-match.decorator';
import type { Expected } from '../revision/revision';
import { RevisionErrors } from '../revision/revision.errors';
import { Ctx } from '../tenancy/ctx.decorator';
import { RequestContext } from '../tenancy/request-context';
import { TenantDto } from './tenant-view.dto';
import { TenantListQuery, TenantRowDto } from './tenant-list.dto';
import { TenantListService } from './tenant-list.service';
import { CreateTenantDto, PatchNamedTenantDto, PatchTenantDto, UpdateTenantDto } from './tenant.dto';
import { TenantErrors } from './tenant.errors';
import { TenantService } from './tenant.service';

const ID_PARAM = { name: 'id', description: "The tenant's internal id, not its code", example: '1' };

const CHANGE = [
  TenantErrors.OWN,
  TenantErrors.NOT_FOUND,
  TenantErrors.PARENT_NOT_FOUND,
  TenantErrors.CYCLE,
  TenantErrors.TOO_DEEP,
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
    summary: 'Create a child tenant',
    roles: MANAGERS,
    refusals: [TenantErrors.PARENT_NOT_FOUND, TenantErrors.TOO_DEEP, OnceErrors.REUSED],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @Body() dto: CreateTenantDto,
    @IdempotencyKey() once?: Once,
  ): Promise<Created> {
    return new Created(await this.tenants.create(ctx, dto, once));
  }

  @Get()
  @Operation({
    summary: 'List your own tenant and those below it, page by page',
    roles: MANAGERS,
    page: TenantRowDto,
    refusals: [],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: TenantListQuery): Promise<PageView<TenantRowDto>> {
    return this.lists.list(ctx, query);
  }

  @Get(':id')
  @ApiParam(ID_PARAM)
  @Operation({
    summary: 'Read a tenant: your own, or one below it',
    roles: MANAGERS,
    data: TenantDto,
    refusals: [TenantErrors.NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @Param('id', TextIdPipe) id: string): Promise<TenantDto> {
    return this.tenants.get(ctx, id);
  }

  @Put()
  @Operation({
    summary: 'Replace a tenant below your own, or move it with all below it',
    roles: MANAGERS,
    refusals: CHANGE,
  })
  update(
    @Ctx() ctx: RequestContext,
    @Body() dto: UpdateTenantDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.tenants.update(ctx, dto, expected);
  }

  @Patch()
  @Operation({
    summary: 'Change some fields of the tenant that the body names (JSON merge patch)',
    roles: MANAGERS,
    refusals: CHANGE,
  })
  patch(
    @Ctx() ctx: RequestContext,
    @Body() dto: PatchNamedTenantDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.tenants.patch(ctx, dto.id, dto, expected);
  }

  @Patch(':id')
  @ApiParam(ID_PARAM)
  @Operation({
    summary: 'Change some fields of a tenant (JSON merge patch)',
    roles: MANAGERS,
    refusals: CHANGE,
  })
  patchAt(
    @Ctx() ctx: RequestContext,
    @Param('id', TextIdPipe) id: string,
    @Body() dto: PatchTenantDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.tenants.patch(ctx, sameId('id', id, dto.id), dto, expected);
  }

  @Delete(':id')
  @ApiParam(ID_PARAM)
  @Operation({
    summary: 'Delete a tenant below your own',
    roles: MANAGERS,
    refusals: [TenantErrors.OWN, TenantErrors.NOT_FOUND, TenantErrors.HAS_CHILDREN, RevisionErrors.STALE],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Param('id', TextIdPipe) id: string,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.tenants.delete(ctx, id, expected);
  }
}
