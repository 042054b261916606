import { Not, type DataSource, type EntityManager } from 'typeorm';
import { inChunks } from '../database/in-chunks';
import { DeptEntity } from '../dept/dept.entity';
import { DeptNames } from '../dept/dept-names.repository';
import { RequestContext } from '../tenancy/request-context';
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

  /** Departments that a search by name would miss, or would find by a name they do not have. */
  async findMisnamed(tenantId: string): Promise<number[]> {
    const rows = await this.#dataSource.query<{ id: unknown }[]>(
      `SELECT d.dept_id AS id FROM tenantry_dept d LEFT JOIN tenantry_dept_name n ON n.dept_id = d.dept_id
        WHERE d.tenant_id = ? AND d.del_flag = '0'
        GROUP BY d.dept_id, d.dept_name
       HAVING COUNT(n.position) <> ${this.#lengthOf('d.dept_name')}
           OR SUM(CASE WHEN n.suffix <> SUBSTR(d.dept_name, n.position) THEN 1 ELSE 0 END) > 0
        UNION SELECT n.dept_id FROM tenantry_dept_name n
          LEFT JOIN tenantry_dept d ON d.dept_id = n.dept_id AND d.del_flag = '0' AND d.tenant_id = n.tenant_id
        WHERE n.tenant_id = ? AND d.dept_id IS NULL`,
      [tenantId, tenantId],
    );
    return rows.map(({ id }) => Number(id));
  }

  /** Writes anew by what names these departments are found. */
  async repairNames(tenantId: string, deptIds: readonly number[]): Promise<void> {
    const ctx = RequestContext.system(tenantId);
    await this.#holding(tenantId, async (manager) => {
      const names = new DeptNames(manager, ctx);
      await inChunks(deptIds, async (chunk) => {
        await names.erase(chunk);
        await names.add(chunk);
        return [];
      });
    });
  }

  #lengthOf(column: string): string {
    return this.#dataSource.options.type === 'better-sqlite3'
      ? `LENGTH(${column})`
      : `CHAR_LENGTH(${column})`;
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
