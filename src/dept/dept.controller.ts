import { IdempotencyKey, PathId, PathIds, sameId, IfMatch } from '../web/params';
import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { JsonBody, QueryParams } from '../web/input';
import { Operation } from '../web/operation.decorator';
import { OrganisationController } from '../web/organisation-controller';
import type { IdempotentRequest } from '../database/idempotent-request';
import { IdempotencyErrors } from '../database/database.errors';
import { PART_MANAGERS, READERS, requireRole } from '../tenancy/roles';
import { Changed, Created, TextAnswer } from '../web/envelope';
import { LargeAnswer } from '../web/large-answer';
import { PATCH_TYPES, SVG_TYPE, WantsSvg } from '../web/request';
import { IdleRequest, type Idle } from '../web/work-place';
import type { PageView } from '../database/page';
import type { Expected } from '../database/revision';
import { HistoryErrors, RevisionErrors } from '../errors/http.errors';
import { PartErrors } from '../tenancy/access.errors';
import { Ctx, type RequestContext } from '../tenancy/request-context';
import { TenantErrors } from '../tenancy/tenant.errors';
import { DeptListService } from './dept-list.service';
import {
  CreateDeptDto,
  DeleteDeptsQuery,
  DeptDto,
  DeptRowDto,
  DeptTreeDto,
  OrderDeptsDto,
  PatchDeptDto,
  UpdateDeptDto,
} from './dept.dto';
import { DeptErrors } from './dept.errors';
import { DeptService } from './dept.service';
import { AsOfQuery, PastDeptListQuery, PastDeptTreeQuery } from './history/dept-history.dto';

const { NOT_FOUND, PARENT_NOT_FOUND, PARENT_DISABLED, CYCLE, TOO_DEEP } = DeptErrors;
const { MISMATCH } = TenantErrors;
const { STALE } = RevisionErrors;
const { OUTSIDE_MANAGED } = PartErrors;
const PAST = [HistoryErrors.GONE, HistoryErrors.TOO_LONG, HistoryErrors.TOO_MANY];
const CHANGE = [
  MISMATCH,
  OUTSIDE_MANAGED,
  NOT_FOUND,
  PARENT_NOT_FOUND,
  PARENT_DISABLED,
  CYCLE,
  TOO_DEEP,
  STALE,
];

/** Without `tenantId`: they must work in whatever tenant the caller is. */
const EXAMPLE = {
  parentId: 0,
  deptName: '总公司',
  orderNum: 1,
  leader: '张三',
  phone: '13800138000',
  email: 'office@example.com',
  status: '0',
};

@OrganisationController('system/dept-api', 'Departments')
export class DeptController {
  constructor(
    private readonly depts: DeptService,
    private readonly lists: DeptListService,
  ) {}

  @Get()
  @Operation({
    id: 'listDepts',
    summary: 'List departments, page by page, now or as they were, or deleted ones',
    description:
      'Departments are sorted by `orderNum`, then `deptId`; all filters that are sent must match. Deleted ones are listed to administrators only; to a `dept_admin` with a `parentId` in its part. With `asOf`, `parentId` is needed, and what is older than the kept journal is refused.',
    roles: READERS,
    permission: 'dept:read',
    page: DeptRowDto,
    tellsChangeCursor: true,
    refusals: [OUTSIDE_MANAGED, NOT_FOUND, ...PAST],
  })
  list(
    @Ctx() ctx: RequestContext,
    @QueryParams() query: PastDeptListQuery,
    @IdleRequest() idle: Idle,
  ): Promise<PageView<DeptRowDto>> {
    if (query.deleted) requireRole(ctx.roles, PART_MANAGERS);
    return this.lists.list(ctx, query, idle);
  }

  @Get('tree')
  @Operation({
    id: 'getDeptTree',
    summary: 'Read departments as a tree, up to 5,000 of them, now or as it was',
    description:
      'Children are nested in `children`. If there are more than 5,000 departments, the upper levels come first and `truncated` is true. A filter shows the matches with their ancestors. With `Accept: image/svg+xml` it is a drawing, of up to 1,000 departments.',
    roles: READERS,
    permission: 'dept:read',
    data: DeptTreeDto,
    alsoAs: { [SVG_TYPE]: '<svg xmlns="http://www.w3.org/2000/svg">…</svg>' },
    tellsChangeCursor: true,
    refusals: [NOT_FOUND, DeptErrors.CHART_TOO_LARGE, ...PAST],
  })
  async tree(
    @Ctx() ctx: RequestContext,
    @QueryParams() query: PastDeptTreeQuery,
    @WantsSvg() wantsSvg: boolean,
    @IdleRequest() idle: Idle,
  ): Promise<DeptTreeDto | LargeAnswer | TextAnswer> {
    if (wantsSvg) return new TextAnswer('svg', await this.lists.chart(ctx, query, idle));
    return LargeAnswer.of(await this.lists.tree(ctx, query, idle));
  }

  @Get(':id/ancestors')
  @Operation({
    id: 'getDeptAncestors',
    summary: 'Read the departments above one, from the top down',
    description: 'A department at the top level has none: the list is empty.',
    roles: READERS,
    permission: 'dept:read',
    list: DeptDto,
    refusals: [NOT_FOUND],
  })
  ancestors(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<DeptDto[]> {
    return this.lists.ancestors(ctx, id);
  }

  @Post()
  @Operation({
    id: 'createDept',
    summary: 'Create a department',
    description:
      'A field that is not sent, or is null, gets its default. `Location` names the new department.',
    body: { example: EXAMPLE },
    creates: true,
    tellsTag: true,
    roles: PART_MANAGERS,
    permission: 'dept:write',
    refusals: [
      MISMATCH,
      OUTSIDE_MANAGED,
      PARENT_NOT_FOUND,
      PARENT_DISABLED,
      TOO_DEEP,
      IdempotencyErrors.REUSED,
    ],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: CreateDeptDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<Created> {
    return new Created(await this.depts.create(ctx, dto, once));
  }

  @Get(':id')
  @Operation({
    id: 'getDept',
    summary: 'Read a department, as it is or as it was',
    description:
      'An id of another tenant and that of a deleted department are refused like one that never existed. With `asOf` the department is shown as it was then, also if it was deleted later.',
    roles: READERS,
    permission: 'dept:read',
    data: DeptDto,
    refusals: [NOT_FOUND, ...PAST],
  })
  get(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @QueryParams() { asOf }: AsOfQuery,
    @IdleRequest() idle: Idle,
  ): Promise<DeptDto> {
    return this.depts.get(ctx, id, asOf, idle);
  }

  @Put('order')
  @Operation({
    id: 'orderDepts',
    summary: 'Set the order of the children of a department',
    description:
      'The listed departments get `orderNum` 1, 2, 3 and so on; children that are not listed keep theirs. If one of them is not a child of `parentId`, nothing is changed.',
    roles: PART_MANAGERS,
    permission: 'dept:write',
    refusals: [OUTSIDE_MANAGED, NOT_FOUND, PARENT_NOT_FOUND, DeptErrors.NOT_A_CHILD],
  })
  order(@Ctx() ctx: RequestContext, @JsonBody() dto: OrderDeptsDto): Promise<void> {
    return this.depts.order(ctx, dto);
  }

  @Put()
  @Operation({
    id: 'updateDept',
    summary: 'Replace a department, or move it with its subtree',
    description:
      'A field that is not sent, or is null, gets its default. Only `parentId` stays as it is when it is not sent; a new one moves the department with its whole subtree.',
    body: { example: { deptId: 1, ...EXAMPLE } },
    tellsTag: true,
    roles: PART_MANAGERS,
    permission: 'dept:write',
    refusals: CHANGE,
  })
  async update(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: UpdateDeptDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    return new Changed(await this.depts.update(ctx, dto, expected));
  }

  @Patch(':id')
  @Operation({
    id: 'patchDept',
    summary: 'Change some fields of a department (JSON merge patch)',
    description:
      'Fields in the body are changed, null resets a field to its default; otherwise as `updateDept`.',
    body: { as: PATCH_TYPES, example: { leader: '李四', phone: null } },
    tellsTag: true,
    roles: PART_MANAGERS,
    permission: 'dept:write',
    refusals: CHANGE,
  })
  async patch(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @JsonBody() dto: PatchDeptDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    const deptId = sameId('deptId', id, dto.deptId);
    return new Changed(await this.depts.patch(ctx, deptId, dto, expected));
  }

  @Delete(':id')
  @Operation({
    id: 'deleteDepts',
    summary: 'Delete one department or several, or one with all below it',
    description:
      'Deletion is logical, and refused while a department has child departments or users. With `subtree=true` the child departments are deleted, too.',
    roles: PART_MANAGERS,
    permission: 'dept:write',
    refusals: [
      OUTSIDE_MANAGED,
      NOT_FOUND,
      DeptErrors.HAS_CHILDREN,
      DeptErrors.HAS_USERS,
      DeptErrors.SUBTREE_TOO_LARGE,
      STALE,
    ],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @PathIds('1') ids: number[],
    @QueryParams() query: DeleteDeptsQuery,
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.depts.delete(ctx, ids, expected, query);
  }
}
