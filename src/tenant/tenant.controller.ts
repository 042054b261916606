import { Body, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operation } from '../api/operation.decorator';
import { OrganisationController } from '../api/organisation-controller.decorator';
import { MANAGERS } from '../auth/roles';
import { Created } from '../http/created';
import { TextIdPipe } from '../http/ids.pipe';
import { Ctx } from '../tenancy/ctx.decorator';
import { RequestContext } from '../tenancy/request-context';
import { TenantDto } from './tenant-view.dto';
import { CreateTenantDto, UpdateTenantDto } from './tenant.dto';
import { TenantErrors } from './tenant.errors';
import { TenantService } from './tenant.service';

const ID_PARAM = { name: 'id', description: "The tenant's internal id, not its code", example: '1' };

@OrganisationController('system/tenant-api', 'Tenants')
export class TenantController {
  constructor(private readonly tenants: TenantService) {}

  @Post()
  @Operation({
    summary: 'Create a child tenant',
    roles: MANAGERS,
    refusals: [TenantErrors.PARENT_NOT_FOUND, TenantErrors.TOO_DEEP],
  })
  async create(@Ctx() ctx: RequestContext, @Body() dto: CreateTenantDto): Promise<Created> {
    return new Created(await this.tenants.create(ctx, dto));
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
    refusals: [
      TenantErrors.OWN,
      TenantErrors.NOT_FOUND,
      TenantErrors.PARENT_NOT_FOUND,
      TenantErrors.CYCLE,
      TenantErrors.TOO_DEEP,
    ],
  })
  update(@Ctx() ctx: RequestContext, @Body() dto: UpdateTenantDto): Promise<void> {
    return this.tenants.update(ctx, dto);
  }

  @Delete(':id')
  @ApiParam(ID_PARAM)
  @Operation({
    summary: 'Delete a tenant below your own',
    roles: MANAGERS,
    refusals: [TenantErrors.OWN, TenantErrors.NOT_FOUND, TenantErrors.HAS_CHILDREN],
  })
  delete(@Ctx() ctx: RequestContext, @Param('id', TextIdPipe) id: string): Promise<void> {
    return this.tenants.delete(ctx, id);
  }
}
