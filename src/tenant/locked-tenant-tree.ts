import { In } from 'typeorm';
import type { AuditStamp } from '../database/audited';
import type { ScopedTable } from '../tenancy/scoped-table';
import type { Place } from '../tree/tree-path';
import { TreeTable } from '../tree/tree-table';
import { isTenantCode } from './tenant-code';
import type { QuotaColumns } from './tenant.columns';
import type { TenantEntity, TenantFields } from './tenant.entity';

const LIVE = { delFlag: '0' } as const;

/** Where a tenant stands: its parent, and the path that follows from it. */
export type TenantPlace = Place & { readonly tenantParent: string };

/** A new tenant, whole. */
export type NewTenant = TenantFields &
  TenantPlace & { readonly id: string; readonly tenantId: string; readonly quota: QuotaColumns };

/** The tenants that the caller reaches, inside a unit of work that holds their tree: the only way to write to it. */
export class LockedTenantTree {
  readonly #tenants: ScopedTable<TenantEntity>;
  readonly #everywhere: ScopedTable<TenantEntity>;
  readonly #tree: TreeTable<TenantEntity>;

  constructor(
    tenants: ScopedTable<TenantEntity>,
    everywhere: ScopedTable<TenantEntity>,
    private readonly audit: AuditStamp,
  ) {
    this.#tenants = tenants;
    this.#everywhere = everywhere;
    this.#tree = new TreeTable(tenants);
  }

  find(id: string): Promise<TenantEntity | null> {
    return this.#tenants.findOne({ id, ...LIVE });
  }

  async findByCode(tenantId: string): Promise<TenantEntity | null> {
    if (!isTenantCode(tenantId)) return null;
    return this.#tenants.findOne({ tenantId, ...LIVE });
  }

  /** Of these codes, the ones that any tenant has or ever had. */
  findTakenCodes(codes: string[]): Promise<string[]> {
    return this.#everywhere.distinct('tenantId', { tenantId: In(codes) });
  }

  hasChildren(tenant: TenantEntity): Promise<boolean> {
    return this.#tenants.exists({ tenantParent: tenant.tenantId, ...LIVE });
  }

  /** How many levels there are below this tenant. */
  async findHeight(tenant: TenantEntity): Promise<number> {
    return (await this.#tree.findDeepest(tenant)) - tenant.depth;
  }

  async add(tenant: NewTenant): Promise<void> {
    await this.#tenants.insert({ ...tenant, treeVersion: '0', ...this.audit.created() });
  }

  async replace(id: string, fields: TenantFields): Promise<void> {
    await this.#tenants.update({ id, ...LIVE }, { ...fields, ...this.audit.touched() });
  }

  /** Puts a tenant, and all that stands below it, at another place. */
  async move(tenant: TenantEntity, place: TenantPlace): Promise<void> {
    await this.#tenants.update({ id: tenant.id, ...LIVE }, place);
    await this.#tree.moveDescendants(tenant, place);
  }

  async markDeleted(id: string): Promise<void> {
    await this.#tenants.update({ id, ...LIVE }, { delFlag: '2', ...this.audit.touched() });
  }
}
