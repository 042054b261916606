import type { DataSource } from 'typeorm';
import { DeptEntity } from '../dept/dept.entity';
import { TenantEntity } from '../tenant/tenant.entity';
import type { StoredNode } from './examine-tree';
import {
  ALL_INVARIANTS,
  END_OF_STRETCH,
  INVARIANTS,
  misnamed,
  ODD_TENANTS,
  OVER_LIMIT,
  ROOTS,
  TENANTS_OF_ODD_DEPTS,
} from './invariants';

const LIVE = { delFlag: '0' } as const;
/** Departments whose names are looked at by one statement. */
const STRETCH = 50_000;

/** A department that is found by a wrong name, and the tenant in which it is. */
export interface Misnamed {
  readonly tenantId: string;
  readonly deptId: number;
}

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

  /** In stretches of ids, so that neither side has to hold the names of a million departments at once. */
  async findMisnamed(): Promise<Misnamed[]> {
    const sql = misnamed(this.#dataSource.options.type === 'better-sqlite3' ? 'LENGTH' : 'CHAR_LENGTH');
    const found: Misnamed[] = [];
    for (let from = 0, to = 0; to < Number.MAX_SAFE_INTEGER; from = to) {
      to = await this.#endOfStretch(from);
      const rows = await this.#dataSource.query<{ subject: unknown; tenant: string }[]>(sql, [
        ...[from, to],
        ...[from, to],
      ]);
      for (const { subject, tenant } of rows) found.push({ tenantId: tenant, deptId: Number(subject) });
    }
    return found;
  }

  /** Tenants with more accounts than they may have; `held`: because their limit may have been lowered. */
  async findOverLimit(): Promise<{ tenantId: string; held: boolean }[]> {
    const rows = await this.#dataSource.query<{ subject: string; unheld: unknown }[]>(OVER_LIMIT);
    return rows.map(({ subject, unheld }) => ({ tenantId: subject, held: Number(unheld) === 0 }));
  }

  async #endOfStretch(from: number): Promise<number> {
    const [end] = await this.#dataSource.query<{ subject: unknown; size: unknown }[]>(END_OF_STRETCH, [
      from,
      STRETCH,
    ]);
    return Number(end?.size) < STRETCH ? Number.MAX_SAFE_INTEGER : Number(end?.subject);
  }

  async #subjects(sql: string): Promise<string[]> {
    return (await this.#dataSource.query<{ subject: unknown }[]>(sql)).map(({ subject }) => String(subject));
  }
}
