import { isBelowAny } from '../database/tree-path';
import { idsIn } from '../resource/data-scope.conditions';
import { holdsDept } from '../tenancy/data-scope';
import type { RequestContext } from '../tenancy/request-context';
import { ancestorIds, type DeptRow } from './dept.entity';
import type { DeptReader } from './dept-reader.repository';

type DeptPath = Pick<DeptRow, 'deptId' | 'ancestors'>;

/** The departments in a data scope, and those above them: what a picker shows. */
export class ScopedDepts {
  /** The departments that the scope names, and all above them. */
  readonly upperIds: ReadonlySet<number>;

  /** Those of them below which all departments are in the scope. */
  readonly #tops: readonly number[];

  private constructor(
    private readonly ctx: RequestContext,
    named: readonly DeptRow[],
  ) {
    this.#tops = idsIn(ctx, true);
    this.upperIds = new Set(named.flatMap((dept) => [...ancestorIds(dept), dept.deptId]));
  }

  static async of(ctx: RequestContext, depts: DeptReader): Promise<ScopedDepts> {
    return new ScopedDepts(ctx, await depts.findMany(idsIn(ctx)));
  }

  /** Whether a department is in the scope. */
  holds(dept: DeptPath): boolean {
    return holdsDept(this.ctx.dataScope, dept);
  }

  /** Whether a department is in the scope with all below it. */
  isOpen(dept: DeptPath): boolean {
    return this.#tops.includes(dept.deptId) || isBelowAny(dept, this.#tops);
  }

  /** Whether a department is in the scope, or above one that is. */
  shows(dept: DeptPath): boolean {
    return this.upperIds.has(dept.deptId) || this.holds(dept);
  }
}
