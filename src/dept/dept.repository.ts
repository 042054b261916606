import { Injectable } from '@nestjs/common';
import type { IdempotentRequest } from '../database/idempotent-request';
import { inChunks } from '../database/in-chunks';
import type { OpenUnit } from '../database/open-unit';
import { UnitOfWork } from '../database/unit-of-work';
import type { RequestContext } from '../tenancy/request-context';
import { UserDirectory } from '../tenancy/tenant-access';
import { treeLock } from '../journal/tree-lock';
import { TenantBound } from '../tenancy/tenant-bound';
import { Clock } from '../time/clock';
import { NOT_A_REQUEST } from '../web/work-place';
import { DeptReader, LargeReads } from './dept-reader.repository';
import { TenantryDept } from './dept.entity';
import { LockedDeptTree } from './locked-dept-tree';

/** Reads departments of a tenant, and writes them in a unit of work that locks its tree. */
@Injectable()
export class DeptRepository {
  readonly #unitOfWork: UnitOfWork;
  readonly #largeReads = new LargeReads();

  constructor(
    unitOfWork: UnitOfWork,
    private readonly users: UserDirectory,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext, idle = NOT_A_REQUEST): DeptReader {
    return new DeptReader(this.#unitOfWork, ctx, this.#largeReads, idle);
  }

  /** Lets the database find its way after an import. It may fail: the database does it by itself later. */
  async analyze(ctx: RequestContext): Promise<void> {
    const depts = new TenantBound(this.#unitOfWork, TenantryDept, ctx);
    if (!ctx.unit) await depts.analyze().catch(() => undefined);
  }

  /** Runs `work` while no other unit changes this tenant's tree; it may run again after a conflict. */
  transaction<T>(
    ctx: RequestContext,
    work: (tree: LockedDeptTree) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    const run = (unit: OpenUnit) => {
      const findOccupied = (ids: readonly number[]) =>
        inChunks(ids, (chunk) => this.users.findOccupied(ctx, chunk, unit.manager));
      return work(new LockedDeptTree(unit, ctx, this.clock.now(), findOccupied));
    };
    return this.#unitOfWork.runIn(ctx.unit, ctx.tenantId, treeLock(ctx), run, once);
  }
}
