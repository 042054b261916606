import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditStamp } from '../database/audited';
import type { Once } from '../database/once';
import { UnitOfWork } from '../database/unit-of-work';
import type { RequestContext } from '../tenancy/request-context';
import { ScopedTable } from '../tenancy/scoped-table';
import { Clock } from '../time/clock';
import { LockedTenantTree } from './locked-tenant-tree';
import { PLATFORM_TENANT } from './platform-tenant';
import { subtreeOf } from './subtree-of.repository';
import { TenantReader } from './tenant-reader.repository';
import { TenantEntity } from './tenant.entity';
import { TenantErrors } from './tenant.errors';
import { raiseTreeVersion } from './tree-version';

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
  transaction<T>(ctx: RequestContext, work: (tree: LockedTenantTree) => Promise<T>, once?: Once): Promise<T> {
    return this.#unitOfWork.run(
      PLATFORM_TENANT,
      async (manager) => {
        await raiseTreeVersion(manager, PLATFORM_TENANT);
        const own = { tenantId: ctx.tenantId, delFlag: '0' };
        if (!(await manager.existsBy(TenantEntity, own))) throw TenantErrors.DELETED();
      },
      (manager) =>
        work(
          new LockedTenantTree(
            subtreeOf(ctx, manager),
            allTenants(manager),
            new AuditStamp(ctx.username, () => this.clock.now()),
          ),
        ),
      once,
    );
  }
}

/** For codes: they must differ from those of tenants that the caller cannot see. */
function allTenants(manager: EntityManager): ScopedTable<TenantEntity> {
  return new ScopedTable(manager, TenantEntity, { where: {} });
}
