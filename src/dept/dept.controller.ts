import { Body, Delete, Get, Param, Patch, Post, Put } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { IdempotencyKey } from '../api/idempotency-key.decorator';
import { Operation } from '../api/operation.decorator';
import { OrganisationController } from '../api/organisation-controller.decorator';
import { Once } from '../database/once';
import { OnceErrors } from '../database/once.errors';
import { MANAGERS, READERS } from '../auth/roles';
import { Created } from '../http/created';
import { IdPipe, IdsPipe } from '../http/ids.pipe';
import { sameId } from '../http/same-id';
import { IfMatch } from '../revision/if-match.decorator';
import type { Expected } from '../revision/revision';
import { RevisionErrors } from '../revision/revision.errors';
import { Ctx } from '../tenancy/ctx.decorator';
import { RequestContext } from '../tenancy/request-context';
import { TenantErrors } from '../tenant/tenant.errors';
import { CreateDeptDto, DeptDto, PatchDeptDto, UpdateDeptDto } from './dept.dto';
import { OrderDeptsDto } from './dept-list.dto';
import { DeptErrors } from './dept.errors';
import { DeptService } from './dept.service';

const CHANGE = [
  TenantErrors.MISMATCH,
  DeptErrors.NOT_FOUND,
  DeptErrors.PARENT_NOT_FOUND,
  DeptErrors.PARENT_DISABLED,
  DeptErrors.CYCLE,
  DeptErrors.TOO_DEEP,
  RevisionErrors.STALE,
];

@OrganisationController('system/dept-api', 'Departments')
export class DeptController {
  constructor(private readonly depts: DeptService) {}

  @Post()
  @Operation({
    summary: 'Create a department',
    roles: MANAGERS,
    refusals: [
      TenantErrors.MISMATCH,
      DeptErrors.PARENT_NOT_FOUND,
      DeptErrors.PARENT_DISABLED,
      DeptErrors.TOO_DEEP,
      OnceErrors.REUSED,
    ],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @Body() dto: CreateDeptDto,
    @IdempotencyKey() once?: Once,
  ): Promise<Created> {
    return new Created(await this.depts.create(ctx, dto, once));
  }

  @Get(':id')
  @ApiParam({ name: 'id', schema: { type: 'integer', format: 'int64' } })
  @Operation({
    summary: 'Read a department',
    roles: READERS,
    data: DeptDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @Param('id', IdPipe) id: number): Promise<DeptDto> {
    return this.depts.get(ctx, id);
  }

  @Put('order')
  @Operation({
    summary: 'Put children of one department into order',
    roles: MANAGERS,
    refusals: [DeptErrors.NOT_FOUND, DeptErrors.PARENT_NOT_FOUND, DeptErrors.NOT_A_CHILD],
  })
  order(@Ctx() ctx: RequestContext, @Body() dto: OrderDeptsDto): Promise<void> {
    return this.depts.order(ctx, dto);
  }

  @Put()
  @Operation({
    summary: 'Replace a department, or move it with its subtree',
    roles: MANAGERS,
    refusals: CHANGE,
  })
  update(
    @Ctx() ctx: RequestContext,
    @Body() dto: UpdateDeptDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.update(ctx, dto, expected);
  }

  @Patch()
  @Operation({
    summary: 'Change some fields of the department that the body names (JSON merge patch)',
    roles: MANAGERS,
    refusals: CHANGE,
  })
  patch(
    @Ctx() ctx: RequestContext,
    @Body() dto: UpdateDeptDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.patch(ctx, dto.deptId, dto, expected);
  }

  @Patch(':id')
  @ApiParam({ name: 'id', schema: { type: 'integer', format: 'int64' } })
  @Operation({
    summary: 'Change some fields of a department (JSON merge patch)',
    roles: MANAGERS,
    refusals: CHANGE,
  })
  patchAt(
    @Ctx() ctx: RequestContext,
    @Param('id', IdPipe) deptId: number,
    @Body() dto: PatchDeptDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.patch(ctx, sameId('deptId', deptId, dto.deptId), dto, expected);
  }

  @Delete(':ids')
  @ApiParam({ name: 'ids', description: 'One id, or up to 500 separated by commas', example: '100,101' })
  @Operation({
    summary: 'Delete one department or several',
    roles: MANAGERS,
    refusals: [DeptErrors.NOT_FOUND, DeptErrors.HAS_CHILDREN, DeptErrors.HAS_USERS, RevisionErrors.STALE],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Param('ids', IdsPipe) ids: number[],
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.delete(ctx, ids, expected);
  }
}
