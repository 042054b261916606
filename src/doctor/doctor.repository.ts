import type { DataSource, EntityManager } from 'typeorm';
import { RAISED } from '../database/audited';
import { tableName } from '../database/columns';
import { DeptEntity } from '../dept/dept.entity';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { TenantEntity } from '../tenant/tenant.entity';
import { examineTree, type StoredNode } from './examine-tree';
import {
  ALL_INVARIANTS,
  INVARIANTS,
  ODD_TENANTS,
  OVER_LIMIT,
  ROOTS,
  TENANTS_OF_ODD_DEPTS,
} from './invariants';

const LIVE = { delFlag: '0' } as const;

/** The whole database, across tenants: for the operator's own checks, never for a request. */
export class DoctorRepository {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async findBroken(): Promise<string[]> {
    const rows = await this.#query<{ broken: unknown; subject: unknown }>(ALL_INVARIANTS);
    return rows.flatMap(({ broken, subject }) => {
      const [kind, wrong] = INVARIANTS[Number(broken)] ?? [];
      return kind ? [`${kind} ${String(subject)}: ${wrong}`] : [];
    });
  }

  findRoots(): Promise<string[]> {
    return this.#subjects(ROOTS);
  }

  async hasOddTenants(): Promise<boolean> {
    return (await this.#subjects(ODD_TENANTS)).length > 0;
  }

  findTenantsOfOddDepts(): Promise<string[]> {
    return this.#subjects(TENANTS_OF_ODD_DEPTS);
  }

  async findTenants(manager = this.#dataSource.manager): Promise<StoredNode[]> {
    const select = { id: true, tenantId: true, tenantParent: true, ancestors: true, depth: true } as const;
    const rows = await manager.find(TenantEntity, { select, where: LIVE, order: { id: 1 } });
    return rows.map(({ tenantId: key, tenantParent: parent, ancestors, depth }) => {
      return { key, parent, ancestors, depth };
    });
  }

  async findDepts(tenantId: string, manager = this.#dataSource.manager): Promise<StoredNode[]> {
    const select = { deptId: true, parentId: true, ancestors: true, depth: true } as const;
    const where = { tenantId, ...LIVE };
    const rows = await manager.find(DeptEntity, { select, where, order: { deptId: 1 } });
    return rows.map(({ deptId: key, parentId, ancestors, depth }) => {
      return { key, parent: parentId || null, ancestors, depth };
    });
  }

  /** Puts the paths of a tenant's departments right, which follow from their parents. */
  async repairDepts(tenantId: string): Promise<void> {
    await this.#holding(tenantId, async (manager) => {
      const { wrongPaths } = examineTree(await this.findDepts(tenantId, manager));
      for (const { key, ancestors, depth } of wrongPaths)
        await manager.update(DeptEntity, { deptId: Number(key), tenantId }, { ancestors, depth, ...RAISED });
    });
  }

  async repairTenants(): Promise<void> {
    await this.#holding(PLATFORM_TENANT, async (manager) => {
      const { wrongPaths } = examineTree(await this.findTenants(manager));
      for (const { key, ancestors, depth } of wrongPaths)
        await manager.update(TenantEntity, { tenantId: String(key) }, { ancestors, depth, ...RAISED });
    });
  }

  /** As every write of the service begins; but what a deleted tenant left must be sound as well. */
  async #holding(tenantId: string, work: (manager: EntityManager) => Promise<void>): Promise<void> {
    await this.#dataSource.transaction(async (manager) => {
      await manager.update(TenantEntity, { tenantId }, { treeVersion: () => 'tree_ver + 1' });
      await work(manager);
    });
  }

  /** Tenants with more accounts than they may have; `held`: because their limit may have been lowered. */
  async findOverLimit(): Promise<{ tenantId: string; held: boolean }[]> {
    const rows = await this.#query<{ subject: string; unheld: unknown }>(OVER_LIMIT);
    return rows.map(({ subject, unheld }) => ({ tenantId: subject, held: Number(unheld) === 0 }));
  }

  async #subjects(sql: string): Promise<string[]> {
    return (await this.#query<{ subject: unknown }>(sql)).map(({ subject }) => String(subject));
  }

  #query<R>(sql: string): Promise<R[]> {
    return this.#dataSource.query(
      sql.replace(/\btenantry_\w+/g, (name) => tableName(this.#dataSource, name)),
    );
  }
}
