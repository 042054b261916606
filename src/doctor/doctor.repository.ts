import { Not, type DataSource, type EntityManager } from 'typeorm';
import { DeptEntity } from '../dept/dept.entity';
import { PLATFORM_TENANT } from '../tenant/platform-tenant';
import { TenantEntity } from '../tenant/tenant.entity';
import { raiseTreeVersion } from '../tenant/tree-version';
import { AccountEntity } from '../user/account.entity';
import { examineTree, type StoredNode } from './examine-tree';

const LIVE = { delFlag: '0' } as const;

/** The whole database, across tenants: for the operator's own checks, never for a request. */
export class DoctorRepository {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async findTenants(manager = this.#dataSource.manager): Promise<StoredNode[]> {
    const select = { id: true, tenantId: true, tenantParent: true, ancestors: true, depth: true } as const;
    const rows = await manager.find(TenantEntity, { select, where: LIVE, order: { id: 1 } });
    return rows.map(({ tenantId, tenantParent, ancestors, depth }) => ({
      key: tenantId,
      parent: tenantParent,
      ancestors,
      depth,
    }));
  }

  /** Codes of all tenants, deleted ones too: their rows must be sound as well. */
  async findCodes(): Promise<string[]> {
    const rows = await this.#dataSource.manager.find(TenantEntity, {
      select: { id: true, tenantId: true },
      order: { id: 1 },
    });
    return rows.map(({ tenantId }) => tenantId);
  }

  async findDepts(tenantId: string, manager = this.#dataSource.manager): Promise<StoredNode[]> {
    const select = { deptId: true, parentId: true, ancestors: true, depth: true } as const;
    const rows = await manager.find(DeptEntity, {
      select,
      where: { tenantId, ...LIVE },
      order: { deptId: 1 },
    });
    return rows.map(({ deptId, parentId, ancestors, depth }) => ({
      key: deptId,
      parent: parentId || null,
      ancestors,
      depth,
    }));
  }

  /** Live accounts whose department is not a live one of their tenant. */
  async findStrays(tenantId: string): Promise<number[]> {
    const rows = await this.#dataSource.manager
      .createQueryBuilder(AccountEntity, 'a')
      .leftJoin(DeptEntity, 'd', "d.deptId = a.deptId AND d.tenantId = a.tenantId AND d.delFlag = '0'")
      .select('a.userId', 'id')
      .where("a.tenantId = :tenantId AND a.delFlag = '0' AND a.deptId IS NOT NULL AND d.deptId IS NULL", {
        tenantId,
      })
      .getRawMany<{ id: unknown }>();
    return rows.map(({ id }) => Number(id));
  }

  /** Whether a tenant has more accounts than it may; lowering its limit does that. */
  async isOverLimit(tenantId: string): Promise<boolean> {
    const where = { tenantId, accountCount: Not(-1), ...LIVE };
    const tenant = await this.#dataSource.manager.findOneBy(TenantEntity, where);
    return (
      tenant !== null &&
      (await this.#dataSource.manager.countBy(AccountEntity, { tenantId, ...LIVE })) > tenant.accountCount
    );
  }

  /** Finds and writes the right paths while nobody else changes the tree. */
  async repairDepts(tenantId: string): Promise<void> {
    await this.#holding(tenantId, async (manager) => {
      for (const { key, ancestors, depth } of examineTree(await this.findDepts(tenantId, manager))
        .wrongPaths) {
        await manager.update(DeptEntity, { deptId: Number(key), tenantId }, { ancestors, depth });
      }
    });
  }

  async repairTenants(): Promise<void> {
    await this.#holding(PLATFORM_TENANT, async (manager) => {
      for (const { key, ancestors, depth } of examineTree(await this.findTenants(manager)).wrongPaths) {
        await manager.update(TenantEntity, { tenantId: String(key) }, { ancestors, depth });
      }
    });
  }

  async #holding(tenantId: string, work: (manager: EntityManager) => Promise<void>): Promise<void> {
    await this.#dataSource.transaction(async (manager) => {
      await raiseTreeVersion(manager, tenantId);
      await work(manager);
    });
  }
}
