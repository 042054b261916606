import { Injectable } from '@nestjs/common';
import { Cursors, filtersOf, type PageView } from '../web/page';
import type { RequestContext } from '../tenancy/request-context';
import { ZonedTime } from '../time/zoned-time';
import { nestDepts } from './nest-depts';
import { ancestorIds } from './ancestor-ids';
import type { DeptListQuery, DeptRowDto, DeptTreeDto, DeptTreeQuery } from './dept-list.dto';
import type { DeptDto } from './dept.dto';
import { ROOT_ID, type DeptEntity } from './dept.entity';
import { DeptErrors } from './dept.errors';
import { toDeptRow, toDeptView } from './dept.mapper';
import type { DeptReader } from './dept-reader.repository';
import { DeptRepository } from './dept.repository';
import { readTree } from './read-tree';

/** Finding departments. */
@Injectable()
export class DeptListService {
  constructor(
    private readonly depts: DeptRepository,
    private readonly cursors: Cursors,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the departments that match, in the order of `orderNum` and `deptId`. */
  async list(ctx: RequestContext, query: DeptListQuery): Promise<PageView<DeptRowDto>> {
    const depts = this.depts.in(ctx);
    const { ids, parentId, deptName: name, leader, status } = query;
    const below = query.ancestorId ? await existing(depts, query.ancestorId) : undefined;
    const criteria = { ids, parentId, name, leader, status, below };
    const page = await this.cursors.page(['dept', ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      depts.findPage(criteria, after, limit),
    );
    const parents = new Set(await depts.findParents(page.rows.map(({ deptId }) => deptId)));
    return { ...page, rows: page.rows.map((row) => toDeptRow(row, this.time, parents)) };
  }

  /** The tree, or the part below a root, or the part that matches with what it hangs on. */
  async tree(
    ctx: RequestContext,
    { rootId, depth, status, deptName: name }: DeptTreeQuery,
  ): Promise<DeptTreeDto> {
    const depts = this.depts.in(ctx);
    const root = rootId ? await existing(depts, rootId) : null;
    const { nodes, truncated, complete } = await readTree(depts, root, { depth, status, name });
    const parents = complete
      ? new Set(nodes.map(({ parentId }) => parentId))
      : new Set(await depts.findParents(nodes.map(({ deptId }) => deptId)));
    const rows = nestDepts(nodes, root?.parentId ?? ROOT_ID, (row) => toDeptRow(row, this.time, parents));
    return { rows, truncated };
  }

  /** The departments above one, from the top down. */
  async ancestors(ctx: RequestContext, deptId: number): Promise<DeptDto[]> {
    const depts = this.depts.in(ctx);
    const dept = await existing(depts, deptId);
    const above = await depts.findMany(ancestorIds(dept));
    return above.sort((a, b) => a.depth - b.depth).map((row) => toDeptView(row, this.time));
  }
}

async function existing(depts: DeptReader, deptId: number): Promise<DeptEntity> {
  const dept = await depts.find(deptId);
  if (!dept) throw DeptErrors.NOT_FOUND();
  return dept;
}
