import { Body, Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { IdempotencyKey } from '../web/idempotency-key.decorator';
import { Operation } from '../web/operation.decorator';
import { OrganisationController } from '../web/organisation-controller.decorator';
import { PathId, PathIds } from '../web/path-params';
import type { IdempotentRequest } from '../database/idempotent-request';
import { IdempotencyErrors } from '../database/idempotency.errors';
import { MANAGERS, READERS } from '../tenancy/roles';
import { Created } from '../web/created';
import { PATCH_TYPES } from '../web/json-body';
import { sameId } from '../web/same-id';
import { IfMatch } from '../web/if-match.decorator';
import type { Expected } from '../web/revision';
import { RevisionErrors } from '../web/revision.errors';
import { Ctx } from '../tenancy/ctx.decorator';
import type { RequestContext } from '../tenancy/request-context';
import { TenantErrors } from '../tenancy/tenant.errors';
import { CreateDeptDto, DeptDto, PatchDeptDto, UpdateDeptDto } from './dept.dto';
import { OrderDeptsDto } from './dept-list.dto';
import { DeptErrors } from './dept.errors';
import { DeptService } from './dept.service';

const REPLACED =
  'A field that is not sent, or is null, gets its default. Only `parentId` stays as it is when it is not sent; a new one moves the department with its whole subtree.';
const PATCHED =
  'Fields in the body are changed, null resets a field to its default; otherwise as `updateDept`.';

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
    id: 'createDept',
    summary: 'Create a department',
    description:
      'A field that is not sent, or is null, gets its default. `Location` names the new department.',
    creates: true,
    roles: MANAGERS,
    refusals: [
      TenantErrors.MISMATCH,
      DeptErrors.PARENT_NOT_FOUND,
      DeptErrors.PARENT_DISABLED,
      DeptErrors.TOO_DEEP,
      IdempotencyErrors.REUSED,
    ],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @Body() dto: CreateDeptDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<Created> {
    return new Created(await this.depts.create(ctx, dto, once));
  }

  @Get(':id')
  @Operation({
    id: 'getDept',
    summary: 'Read a department',
    roles: READERS,
    data: DeptDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<DeptDto> {
    return this.depts.get(ctx, id);
  }

  @Put('order')
  @Operation({
    id: 'orderDepts',
    summary: 'Set the order of the children of a department',
    roles: MANAGERS,
    refusals: [DeptErrors.NOT_FOUND, DeptErrors.PARENT_NOT_FOUND, DeptErrors.NOT_A_CHILD],
  })
  order(@Ctx() ctx: RequestContext, @Body() dto: OrderDeptsDto): Promise<void> {
    return this.depts.order(ctx, dto);
  }

  @Put()
  @Operation({
    id: 'updateDept',
    summary: 'Replace a department, or move it with its subtree',
    description: REPLACED,
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

  @Patch(':id')
  @Operation({
    id: 'patchDept',
    summary: 'Change some fields of a department (JSON merge patch)',
    description: PATCHED,
    body: { type: PatchDeptDto, as: PATCH_TYPES, example: { leader: '李四', phone: null } },
    roles: MANAGERS,
    refusals: CHANGE,
  })
  patch(
    @Ctx() ctx: RequestContext,
    @PathId() deptId: number,
    @Body() dto: PatchDeptDto,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.patch(ctx, sameId('deptId', deptId, dto.deptId), dto, expected);
  }

  @Delete(':id')
  @Operation({
    id: 'deleteDepts',
    summary: 'Delete one department or several',
    description: 'Deletion is logical, and refused while a department has child departments or users.',
    roles: MANAGERS,
    refusals: [DeptErrors.NOT_FOUND, DeptErrors.HAS_CHILDREN, DeptErrors.HAS_USERS, RevisionErrors.STALE],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @PathIds('1') ids: number[],
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.delete(ctx, ids, expected);
  }
}
