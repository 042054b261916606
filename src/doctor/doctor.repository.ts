import type { DataSource } from 'typeorm';
import { DeptEntity } from '../dept/dept.entity';
import { TenantEntity } from '../tenant/tenant.entity';
import type { StoredNode } from './examine-tree';
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

  /** A line for each row that breaks one of the simple invariants. */
  async findBroken(): Promise<string[]> {
    const rows = await this.#dataSource.query<{ broken: unknown; subject: unknown }[]>(ALL_INVARIANTS);
    return rows.flatMap(({ broken, subject }) =>
      INVARIANTS.filter((_, index) => index === Number(broken)).map(
        ({ kind, wrong }) => `${kind} ${String(subject)}: ${wrong}`,
      ),
    );
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
    return rows.map(({ tenantId, tenantParent, ancestors, depth }) => ({
      key: tenantId,
      parent: tenantParent,
      ancestors,
      depth,
    }));
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

  /** Tenants with more accounts than they may have; `held`: because their limit may have been lowered. */
  async findOverLimit(): Promise<{ tenantId: string; held: boolean }[]> {
    const rows = await this.#dataSource.query<{ subject: string; unheld: unknown }[]>(OVER_LIMIT);
    return rows.map(({ subject, unheld }) => ({ tenantId: subject, held: Number(unheld) === 0 }));
  }

  async #subjects(sql: string): Promise<string[]> {
    return (await this.#dataSource.query<{ subject: unknown }[]>(sql)).map(({ subject }) => String(subject));
  }
}
