import { Get, Query } from '@nestjs/common';
import { Operation } from '../web/operation.decorator';
import { OrganisationController } from '../web/organisation-controller';
import { PathId } from '../web/params';
import { READERS } from '../tenancy/roles';
import type { PageView } from '../web/page';
import { Ctx } from '../tenancy/ctx.decorator';
import type { RequestContext } from '../tenancy/request-context';
import { DeptListQuery, DeptRowDto, DeptTreeDto, DeptTreeQuery } from './dept-list.dto';
import { DeptListService } from './dept-list.service';
import { DeptDto } from './dept.dto';
import { DeptErrors } from './dept.errors';

/** Registered before DeptController, whose `:id` would take these paths. */
@OrganisationController('system/dept-api', 'Departments')
export class DeptListController {
  constructor(private readonly depts: DeptListService) {}

  @Get()
  @Operation({
    id: 'listDepts',
    summary: 'List departments, page by page',
    roles: READERS,
    page: DeptRowDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: DeptListQuery): Promise<PageView<DeptRowDto>> {
    return this.depts.list(ctx, query);
  }

  @Get('tree')
  @Operation({
    id: 'getDeptTree',
    summary: 'Read departments as a tree, up to 5,000 of them',
    roles: READERS,
    data: DeptTreeDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  tree(@Ctx() ctx: RequestContext, @Query() query: DeptTreeQuery): Promise<DeptTreeDto> {
    return this.depts.tree(ctx, query);
  }

  @Get(':id/ancestors')
  @Operation({
    id: 'getDeptAncestors',
    summary: 'Read the departments above one, from the top down',
    roles: READERS,
    list: DeptDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  ancestors(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<DeptDto[]> {
    return this.depts.ancestors(ctx, id);
  }
}
