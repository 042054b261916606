import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../tenancy/request-context';
import { ZonedTime } from '../../time/zoned-time';
import { DeptErrors } from '../dept.errors';
import { DeptRepository } from '../dept.repository';
import { planAdoption, refuseProblems, takenProblems, type AdoptedDept } from './adoption-plan';

/** How many departments were adopted, and how many were left out because they are deleted. */
export interface AdoptionReport {
  readonly adopted: number;
  readonly leftOut: number;
}

/** Takes over the departments that another system has kept, with their ids. */
@Injectable()
export class DeptAdoption {
  constructor(
    private readonly depts: DeptRepository,
    private readonly time: ZonedTime,
  ) {}

  /**
   * Adds departments with their ids, parents, order and dates to a tenant that has none: all of them, or nothing. Names each that
   * breaks a rule in the `fields` of its refusal. With `dryRun` it checks them and writes nothing.
   */
  async run(
    ctx: RequestContext,
    depts: Iterable<AdoptedDept> | AsyncIterable<AdoptedDept>,
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<AdoptionReport> {
    const { rows, leftOut, problems } = await planAdoption(depts, this.time);
    await this.depts.transaction(ctx, async (tree) => {
      if (!(await tree.isEmpty())) throw DeptErrors.TREE_NOT_EMPTY();
      const taken = await tree.findTaken(rows.map(({ deptId }) => deptId));
      refuseProblems([...problems, ...takenProblems(taken)]);
      if (!dryRun) await tree.adopt(rows);
    });
    await this.depts.analyze(ctx);
    return { adopted: rows.length, leftOut };
  }
}
