import { Injectable } from '@nestjs/common';
import { isBelowAny } from '../database/tree-path';
import { applyScope } from '../resource/apply-scope.conditions';
import { idsIn, outsideScope } from '../resource/data-scope.conditions';
import { holdsDept } from '../tenancy/data-scope';
import type { RequestContext } from '../tenancy/request-context';
import { DeptErrors } from './dept.errors';
import { DeptRepository } from './dept.repository';
import { DeptService } from './dept.service';

/** The data scope of a caller, for what a host does beside tenant-bound repositories. */
@Injectable()
export class DataScopes {
  constructor(
    private readonly depts: DeptRepository,
    private readonly service: DeptService,
  ) {}

  /**
   * Limits what a query builder of the host selects, updates or deletes to rows of the caller's tenant and data scope, whatever conditions
   * it has or gets; gives the builder. Columns are named as `alias.property`.
   */
  apply<Q extends Parameters<typeof applyScope>[1]>(
    ctx: RequestContext,
    queryBuilder: Q,
    columns: Parameters<typeof applyScope>[2],
  ): Q {
    return applyScope(ctx, queryBuilder, columns);
  }

  /** Refuses departments that the tenant has not (404), and those outside of the caller's data scope (403), and names them. */
  async check(ctx: RequestContext, deptIds: readonly number[]): Promise<void> {
    const ids = [...new Set(deptIds.map(Number))];
    const found = await this.depts.in(ctx).findMany(ids.filter(Number.isSafeInteger));
    const known = new Set(found.map(({ deptId }) => deptId));
    const missing = ids.filter((deptId) => !known.has(deptId));
    if (missing.length > 0) throw DeptErrors.NOT_FOUND({ ids: missing.filter(Number.isSafeInteger) });
    const outside = found.filter((dept) => !holdsDept(ctx.dataScope, dept));
    if (outside.length > 0) throw outsideScope(outside.map(({ deptId }) => deptId));
  }

  /** The ids of all departments in the caller's data scope, for a search engine. */
  async deptIds(ctx: RequestContext): Promise<number[]> {
    const depts = this.depts.in(ctx);
    if (!ctx.dataScope) return depts.findIdsBelow(null);
    const [named, topIds] = [await depts.findMany(idsIn(ctx)), idsIn(ctx, true)];
    const found = new Set(named.map(({ deptId }) => deptId));
    const tops = named.filter((dept) => topIds.includes(dept.deptId) && !isBelowAny(dept, topIds));
    for (const { deptId: key, ...place } of tops)
      for (const deptId of await depts.findIdsBelow({ key, ...place })) found.add(deptId);
    return [...found];
  }

  /** The ids of a department and of all below it, itself first. */
  idsBelow(ctx: RequestContext, deptId: number): Promise<number[]> {
    return this.service.idsBelow(ctx, deptId);
  }
}
