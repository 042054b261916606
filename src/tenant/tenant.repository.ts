import { Injectable } from '@nestjs/common';
import { Raw, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { AuditStamp } from '../database/audited';
import { UnitOfWork } from '../database/unit-of-work';
import type { RequestContext } from '../tenancy/request-context';
import { ScopedTable } from '../tenancy/scoped-table';
import { Clock } from '../time/clock';
import { LockedTenantTree } from './locked-tenant-tree';
import { PLATFORM_TENANT } from './platform-tenant';
import { TenantEntity } from './tenant.entity';
import { TenantErrors } from './tenant.errors';
import { raiseTreeVersion } from './tree-version';

/** Tenants as one tenant reads them. */
export interface TenantReader {
  find(id: string): Promise<TenantEntity | null>;
  findByCode(tenantId: string): Promise<TenantEntity | null>;
}

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
    const findOne = (where: FindOptionsWhere<TenantEntity>) =>
      this.#unitOfWork.withoutTransaction((manager) =>
        subtreeOf(ctx, manager).findOne({ ...where, delFlag: '0' }),
      );
    return { find: (id) => findOne({ id }), findByCode: (tenantId) => findOne({ tenantId }) };
  }

  /**
   * Runs `work` while no other unit changes the tree of tenants; it may run again after a conflict. The whole tree
   * has one lock, the platform's row: two moves far apart can form a cycle only together.
   */
  transaction<T>(ctx: RequestContext, work: (tree: LockedTenantTree) => Promise<T>): Promise<T> {
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
    );
  }
}

/** The caller's tenant and all below it. Codes are never reused, so a path that names the caller's is below it. */
function subtreeOf({ tenantId }: RequestContext, manager: EntityManager): ScopedTable<TenantEntity> {
  if (!tenantId) throw new Error('A tenant is needed to look from.');
  const lineage = Raw((ancestors) => `INSTR(CONCAT(',', ${ancestors}, ','), :lineage) > 0`, {
    lineage: `,${tenantId},`,
  });
  const where: FindOptionsWhere<TenantEntity>[] = [{ tenantId }, { ancestors: lineage }];
  return new ScopedTable(manager, TenantEntity, { where });
}

/** For codes: they must differ from those of tenants that the caller cannot see. */
function allTenants(manager: EntityManager): ScopedTable<TenantEntity> {
  return new ScopedTable(manager, TenantEntity, { where: {} });
}
