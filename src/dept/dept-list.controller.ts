import { Get, Param, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operation } from '../api/operation.decorator';
import { OrganisationController } from '../api/organisation-controller.decorator';
import { READERS } from '../auth/roles';
import { IdPipe } from '../http/ids.pipe';
import type { PageView } from '../paging/page';
import { Ctx } from '../tenancy/ctx.decorator';
import { RequestContext } from '../tenancy/request-context';
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
    summary: 'Read departments as a tree, up to 5,000 of them',
    roles: READERS,
    data: DeptTreeDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  tree(@Ctx() ctx: RequestContext, @Query() query: DeptTreeQuery): Promise<DeptTreeDto> {
    return this.depts.tree(ctx, query);
  }

  @Get(':id/ancestors')
  @ApiParam({ name: 'id', schema: { type: 'integer', format: 'int64' } })
  @Operation({
    summary: 'Read the departments above one, from the top down',
    roles: READERS,
    list: DeptDto,
    refusals: [DeptErrors.NOT_FOUND],
  })
  ancestors(@Ctx() ctx: RequestContext, @Param('id', IdPipe) id: number): Promise<DeptDto[]> {
    return this.depts.ancestors(ctx, id);
  }
}
