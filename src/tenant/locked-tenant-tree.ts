import { In, Raw, type EntityManager, type FindOptionsWhere } from 'typeorm';
import type { OpenUnit } from '../database/open-unit';
import type { RequestContext } from '../tenancy/request-context';
import { ScopedTable, type Connections } from '../database/scoped-table';
import { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../database/tree-path';
import { TreeTable } from '../database/tree-table';
import { JournalledRows, type Journalled } from '../resource/journalled-rows.repository';
import { isTenantCode } from '../tenancy/tenant-code';
import { CONTRACT_QUOTAS } from './quota/quota-kinds';
import { TenantryQuota } from './quota/quota.entity';
import { freeTenantCode, nextSnowflake, snowflakeAt } from './tenant-ids';
import { toTenantJournal } from './tenant.mapper';
import { TenantryTenant, type TenantFields } from './tenant.entity';
import {
  TenantCreated,
  TenantDeleted,
  TenantDisabled,
  TenantEnabled,
  TenantMoved,
  TenantRestored,
  TenantUpdated,
} from './tenant.events';

export const LIVE = { delFlag: '0' } as const;
const DELETED = { delFlag: '2' } as const;
const ID = ['id'] as const;
const PARENT = ['tenantParent'] as const;

/** The caller's tenant and all below it. Codes are never reused, so a path that names the caller's is below it. */
export function subtreeOf(
  { tenantId }: RequestContext,
  source: EntityManager | Connections,
): ScopedTable<TenantryTenant> {
  if (!tenantId) throw new Error('A tenant is needed to look from.');
  const lineage = Raw((ancestors) => `:instr(CONCAT(',', ${ancestors}, ','), :lineage) > 0`, {
    lineage: `,${tenantId},`,
  });
  const where: FindOptionsWhere<TenantryTenant>[] = [{ tenantId }, { ancestors: lineage }];
  return new ScopedTable(source, TenantryTenant, { where });
}

/** Where a tenant stands: its parent, and the path that follows from it. */
export type TenantPlace = Place & { readonly tenantParent: string };

/** A new tenant, whole. */
export type NewTenant = TenantFields & TenantPlace & { readonly id: string; readonly tenantId: string };

const EVENTS = {
  created: TenantCreated,
  updated: TenantUpdated,
  deleted: TenantDeleted,
  restored: TenantRestored,
};

export const JOURNALLED_TENANT: Journalled<TenantryTenant> = {
  kind: 'tenant',
  noun: 'tenant',
  entity: TenantryTenant,
  id: 'id',
  toJournal: toTenantJournal,
  lineageOf: ({ ancestors, tenantId }) => `,${ancestors},${tenantId},`,
  toEvent: (operation, { username }, { tenantId, id, tenantParent }, before) =>
    operation === 'moved'
      ? new TenantMoved(tenantId, username, id, before.tenantParent, tenantParent ?? '')
      : new EVENTS[operation](tenantId, username, id),
};

/** The tenants that the caller reaches, inside a unit of work that locks their tree. Only it writes them. */
export class LockedTenantTree {
  readonly #tenants: ScopedTable<TenantryTenant>;
  readonly #everywhere: ScopedTable<TenantryTenant>;
  readonly #tree: TreeTable<TenantryTenant>;
  readonly #rows: JournalledRows<TenantryTenant>;

  constructor(
    private readonly unit: OpenUnit,
    private readonly ctx: RequestContext,
    private readonly now: Date,
  ) {
    const { manager } = unit;
    this.#tenants = subtreeOf(ctx, manager);
    // For ids and codes, which must differ from those of tenants that the caller cannot see; and for deleted tenants, whose
    // paths may be old.
    this.#everywhere = new ScopedTable(manager, TenantryTenant);
    this.#tree = new TreeTable(this.#tenants);
    this.#rows = new JournalledRows(unit, ctx, now, JOURNALLED_TENANT, this.#tenants);
  }

  find(id: string): Promise<TenantryTenant | null> {
    return this.#tenants.findOne({ id, ...LIVE });
  }

  async findByCode(tenantId: string): Promise<TenantryTenant | null> {
    if (!isTenantCode(tenantId)) return null;
    return this.#tenants.findOne({ tenantId, ...LIVE });
  }

  /**
   * A deleted tenant whose place is below the caller's: whose parent, or the parent of that one if it is deleted too, and so
   * on, is reached by the caller. Its own path tells where it stood when it was deleted; what is above it may have moved since.
   */
  async findDeleted(
    tenant: { readonly id: string } | { readonly tenantId: string },
  ): Promise<TenantryTenant | null> {
    const deleted = await this.#everywhere.findOne({ ...tenant, ...DELETED });
    for (let above = deleted?.tenantParent; above != null;) {
      if (await this.findByCode(above)) return deleted;
      const [parent] = await this.#everywhere.pick({ tenantId: above, ...DELETED }, PARENT);
      above = parent?.tenantParent;
    }
    return null;
  }

  /** A new id, greater than every id so far: the lock on the tree of tenants makes it unique. */
  async nextId(): Promise<string> {
    const now = this.now.getTime();
    const first = String(snowflakeAt(now));
    // Ids are texts: only those of the same length compare as numbers do.
    const fromNow = Raw((id) => `${id} >= :first AND LENGTH(${id}) = LENGTH(:first)`, { first });
    const options = { order: { id: 'DESC' }, limit: 1 } as const;
    const [latest] = await this.#everywhere.pick({ id: fromNow }, ID, options);
    return String(nextSnowflake(now, BigInt(latest?.id ?? 0)));
  }

  /** A new code, which no tenant has or ever had. */
  nextCode(): Promise<string> {
    return freeTenantCode((codes) => this.#everywhere.distinct('tenantId', { tenantId: In(codes) }));
  }

  hasChildren(tenant: TenantryTenant): Promise<boolean> {
    return this.#tenants.exists({ tenantParent: tenant.tenantId, ...LIVE });
  }

  /** The live tenants right below this one. */
  findChildren(code: string): Promise<TenantryTenant[]> {
    return this.#tenants.find({ tenantParent: code, ...LIVE });
  }

  /** How many levels there are below this tenant. */
  async findHeight(tenant: TenantryTenant): Promise<number> {
    return (await this.#tree.findDeepest(tenant)) - tenant.depth;
  }

  async add(tenant: NewTenant): Promise<void> {
    await this.#rows.insert({ ...tenant, treeVersion: '0' });
    const unused = { used: 0, reserved: 0, lastSeq: 0 };
    const counters = CONTRACT_QUOTAS.map((kind) => ({ kind, total: tenant.quota[kind], ...unused }));
    await this.#counters(tenant).insert(...counters);
  }

  /** With a place, it moves there, with all below it. Gives the new revision. */
  async replace(tenant: TenantryTenant, fields: TenantFields, place?: TenantPlace): Promise<number> {
    if (place) await this.#tree.moveDescendants(tenant, place);
    const revision = await this.#rows.update(tenant, { ...fields, ...place }, place ? 'moved' : 'updated');
    const { tenantId, id } = tenant;
    const Switched = fields.status === '0' ? TenantEnabled : TenantDisabled;
    if (fields.status !== tenant.status) this.unit.emit(new Switched(tenantId, this.ctx.username, id));
    for (const kind of CONTRACT_QUOTAS.filter((each) => fields.quota[each] !== tenant.quota[each]))
      await this.#counters(tenant).update({ kind }, { total: fields.quota[kind] });
    return revision;
  }

  /** Where the totals of a tenant stand once more, for those who spend. */
  #counters({ tenantId }: Pick<TenantryTenant, 'tenantId'>): TenantBound<TenantryQuota> {
    return new TenantBound(this.unit.manager, TenantryQuota, this.ctx.below(tenantId));
  }

  markDeleted(tenant: TenantryTenant): Promise<void> {
    return this.#rows.markDeleted([tenant]);
  }

  /** The path of a deleted tenant may be old, so it is written wherever it stood. */
  restore(tenant: TenantryTenant, place: TenantPlace): Promise<void> {
    return this.#rows.restore([tenant], place, (where, live) => this.#everywhere.update(where, live));
  }
}
