import type { DataSource, EntityManager } from 'typeorm';
import { RAISED } from '../database/audited';
import { DeptEntity } from '../dept/dept.entity';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { TenantEntity } from '../tenant/tenant.entity';
import { DoctorRepository } from './doctor.repository';
import { examineTree } from './examine-tree';

/** Puts right what follows from other rows: paths from parents. */
export class RepairRepository {
  readonly #dataSource: DataSource;
  readonly #doctor: DoctorRepository;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#doctor = new DoctorRepository(dataSource);
  }

  /** Finds and writes the right paths while nobody else changes the tree. */
  async repairDepts(tenantId: string): Promise<void> {
    await this.#holding(tenantId, async (manager) => {
      const { wrongPaths } = examineTree(await this.#doctor.findDepts(tenantId, manager));
      for (const { key, ancestors, depth } of wrongPaths)
        await manager.update(DeptEntity, { deptId: Number(key), tenantId }, { ancestors, depth, ...RAISED });
    });
  }

  async repairTenants(): Promise<void> {
    await this.#holding(PLATFORM_TENANT, async (manager) => {
      const { wrongPaths } = examineTree(await this.#doctor.findTenants(manager));
      for (const { key, ancestors, depth } of wrongPaths)
        await manager.update(TenantEntity, { tenantId: String(key) }, { ancestors, depth, ...RAISED });
    });
  }

  async #holding(tenantId: string, work: (manager: EntityManager) => Promise<void>): Promise<void> {
    await this.#dataSource.transaction(async (manager) => {
      // As every write of the service begins; but what a deleted tenant left must be sound as well.
      await manager.update(TenantEntity, { tenantId }, { treeVersion: () => 'tree_ver + 1' });
      await work(manager);
    });
  }
}
