import { Injectable } from '@nestjs/common';
import { AuditStamp } from '../database/audited';
import type { IdempotentRequest } from '../database/idempotent-request';
import { UnitOfWork } from '../database/unit-of-work';
import { RequestContext } from '../tenancy/request-context';
import { Clock } from '../time/clock';
import { LockedTenantTree } from './locked-tenant-tree';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { TenantReader } from './tenant-reader.repository';
import { TenantEntity } from './tenant.entity';
import { goneTenant, raiseTreeVersion } from '../tenancy/tenant-access';

/** The door to the tenants: each tenant reaches itself and what is below it. */
@Injectable()
export class TenantRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): TenantReader {
    return new TenantReader(this.#unitOfWork, ctx);
  }

  /**
   * Runs `work` while no other unit changes the tree of tenants; it may run again after a conflict. The whole tree
   * has one lock, the platform's row: two moves far apart can form a cycle only together.
   */
  async transaction<T>(
    ctx: RequestContext,
    work: (tree: LockedTenantTree) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    RequestContext.require(ctx);
    return this.#unitOfWork.run(
      PLATFORM_TENANT,
      async (manager) => {
        await raiseTreeVersion(manager, PLATFORM_TENANT);
        const own = { tenantId: ctx.tenantId, delFlag: '0' };
        if (!(await manager.existsBy(TenantEntity, own))) {
          throw goneTenant(ctx.tenantId, ctx.callerTenantId);
        }
      },
      (manager, emit) => {
        const audit = new AuditStamp(ctx.username, () => this.clock.now());
        return work(new LockedTenantTree(manager, ctx, audit, emit));
      },
      once,
    );
  }
}
