import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditStamp } from '../database/audited';
import type { IdempotentRequest } from '../database/idempotent-request';
import { UnitOfWork } from '../database/unit-of-work';
import type { Emit } from '../database/domain-events';
import type { RequestContext } from '../tenancy/request-context';
import { raiseTreeVersion, UserDirectory } from '../tenancy/tenant-access';
import { Clock } from '../time/clock';
import { DeptLookup } from './dept-lookup.repository';
import { DeptReader } from './dept-reader.repository';
import { LockedDeptTree } from './locked-dept-tree';

/** The door to the departments: reading in a tenant, and writing in a unit of work that holds its tree. */
@Injectable()
export class DeptRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly users: UserDirectory,
    private readonly clock: Clock,
    private readonly lookup: DeptLookup,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): DeptReader {
    return new DeptReader(this.#unitOfWork, this.lookup, ctx);
  }

  /** Runs `work` while no other unit changes this tenant's tree; it may run again after a conflict. */
  transaction<T>(
    ctx: RequestContext,
    work: (tree: LockedDeptTree) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    return this.#unitOfWork.run(
      ctx.tenantId,
      (manager) => raiseTreeVersion(manager, ctx.tenantId, ctx.callerTenantId),
      (manager, emit) => work(this.#lockedTree(ctx, manager, emit)),
      once,
    );
  }

  #lockedTree(ctx: RequestContext, manager: EntityManager, emit: Emit): LockedDeptTree {
    return new LockedDeptTree(
      manager,
      ctx,
      new AuditStamp(ctx.username, () => this.clock.now()),
      emit,
      (ids) => this.users.findOccupied(ctx, ids, manager),
    );
  }
}
