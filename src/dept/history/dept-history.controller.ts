import { Get, Post } from '@nestjs/common';
import { IdempotencyErrors } from '../../database/database.errors';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { HistoryErrors } from '../../errors/http.errors';
import { PartErrors } from '../../tenancy/access.errors';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { MANAGERS, PART_MANAGERS } from '../../tenancy/roles';
import { ChangeDto } from '../../web/change.dto';
import { OptionalJsonBody, QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import type { PageView } from '../../database/page';
import { PageQuery } from '../../web/page-query.dto';
import { IdempotencyKey, PathId } from '../../web/params';
import { IdleRequest, type Idle } from '../../web/work-place';
import { DeptErrors } from '../dept.errors';
import { DeptService } from '../dept.service';
import { DeptDiffDto, DeptDiffQuery, RestoreDeptDto } from './dept-history.dto';
import { DeptHistory } from './dept-history.service';

const { NOT_FOUND, PARENT_GONE, PARENT_DISABLED, TOO_DEEP } = DeptErrors;

/** Registered before DeptController, whose `:id` would take `diff`. */
@OrganisationController('system/dept-api', 'Departments')
export class DeptHistoryController {
  constructor(
    private readonly depts: DeptService,
    private readonly past: DeptHistory,
  ) {}

  @Get('diff')
  @Operation({
    id: 'diffDepts',
    summary: 'Compare the departments of two times, page by page',
    description:
      'There is one row per department that differs: first what was created, then what was moved, renamed, changed in another way, and deleted.',
    roles: MANAGERS,
    permission: 'dept:read',
    page: DeptDiffDto,
    refusals: [HistoryErrors.GONE, HistoryErrors.TOO_LONG, HistoryErrors.TOO_MANY],
  })
  diff(
    @Ctx() ctx: RequestContext,
    @QueryParams() query: DeptDiffQuery,
    @IdleRequest() idle: Idle,
  ): Promise<PageView<DeptDiffDto>> {
    return this.past.diff(ctx, query, idle);
  }

  @Get(':id/history')
  @Operation({
    id: 'getDeptHistory',
    summary: 'List what was done to a department, the newest first, also after it was deleted',
    description:
      'Each row has the changed fields before and after, who changed them and when. Changes that are older than the kept journal are not listed. A `dept_admin` reads it of departments in its part.',
    roles: PART_MANAGERS,
    permission: 'dept:read',
    page: ChangeDto,
    refusals: [NOT_FOUND, PartErrors.OUTSIDE_MANAGED],
  })
  history(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<ChangeDto>> {
    return this.past.history(ctx, id, query);
  }

  @Post(':id/restore')
  @Operation({
    id: 'restoreDept',
    summary: 'Restore a deleted department',
    description:
      'It lives again under its old id, below the parent that it had or the one in the body, with all that was deleted together with it. The rules of create hold for its place. For a `dept_admin` both the place and, if that is another one, the place that it had must be below a department that it manages.',
    body: { example: {} },
    roles: PART_MANAGERS,
    permission: 'dept:write',
    refusals: [
      PartErrors.OUTSIDE_MANAGED,
      NOT_FOUND,
      PARENT_GONE,
      PARENT_DISABLED,
      TOO_DEEP,
      HistoryErrors.NOT_DELETED,
      IdempotencyErrors.REUSED,
    ],
  })
  restore(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @OptionalJsonBody() dto: RestoreDeptDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<void> {
    return this.depts.restore(ctx, id, dto, once);
  }
}
