import { In, type DataSource, type EntityManager, type ObjectLiteral } from 'typeorm';
import { RAISED, type Audited } from '../database/audited';
import { ID_TYPES, type ChangeKind, type JournalFields } from '../journal/change-log';
import { tableName } from '../database/columns';
import type { Dialect } from '../database/dialect';
import { dialectOf } from '../database/dialects';
import { ScopedTable, type Connections } from '../database/scoped-table';
import { withQueryRunner } from '../database/tenantry.data-source';
import { TenantryDept } from '../dept/dept.entity';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { menusOf, TenantryTenant } from '../tenant/tenant.entity';
import { isContractQuota } from '../tenant/quota/quota-kinds';
import { TenantryQuota, TenantryQuotaEntry, TenantryReservation } from '../tenant/quota/quota.entity';
import type { QuotaName } from '../tenant/quota/locked-quota';
import { examineTree, type StoredNode } from '../database/examine-tree';
import {
  allOf,
  LAST_ENTRY_ORDER,
  lastEntriesAfter,
  ODD_TENANTS,
  ROOTS,
  TENANTS_OF_ODD_DEPTS,
  type Examined,
} from './invariants';
import { QUOTAS_BEYOND_PARENT, WRONG_QUOTAS } from './quota-checks';

const LIVE = { delFlag: '0' } as const;

/** The newest entry that the journal has of a resource. */
export interface LastEntry {
  readonly tenantId: string;
  readonly kind: ChangeKind;
  readonly resourceId: string;
  readonly version: number;
  readonly seq: number;
  readonly operation: string;
  readonly fields: string;
}

interface Journalled {
  readonly isDeleted: boolean;
  readonly fields: JournalFields;
}

/** A quota whose counter is not what its ledger, its reservations and its tenant say. */
export type WrongQuota = QuotaName & { readonly wrong: string };

function numbers(row: Readonly<Record<string, string | number | null>>, of: 'is' | 'should'): string {
  const { [`${of}_used`]: used, [`${of}_reserved`]: reserved, [`${of}_total`]: total } = row;
  return `${String(used)} used, ${String(reserved)} reserved and a total of ${total === null ? 'none' : String(total)}`;
}

/** Not what a host's DataSource may have cached. */
const FRESH = { cache: false };

type Path = Pick<TenantryDept, 'ancestors' | 'depth'> & typeof RAISED;

/** The departments of a tenant. */
const deptTree = (tenantId: string) => ({
  noun: 'department',
  /** Whose lock holds the tree. */
  tenantId,
  async find(manager: EntityManager): Promise<StoredNode[]> {
    const select = { deptId: true, parentId: true, ancestors: true, depth: true } as const;
    const where = { tenantId, ...LIVE };
    const rows = await manager.find(TenantryDept, { select, where, order: { deptId: 1 }, ...FRESH });
    return rows.map(({ deptId: key, parentId, ...path }) => ({ ...path, key, parent: parentId || null }));
  },
  update: (manager: EntityManager, key: StoredNode['key'], path: Path) =>
    manager.update(TenantryDept, { deptId: Number(key), tenantId }, path),
});

type StoredTree = ReturnType<typeof deptTree>;

const TENANT_TREE: StoredTree = {
  noun: 'tenant',
  tenantId: PLATFORM_TENANT,
  async find(manager) {
    const select = { id: true, tenantId: true, tenantParent: true, ancestors: true, depth: true } as const;
    const rows = await manager.find(TenantryTenant, { select, where: LIVE, order: { id: 1 }, ...FRESH });
    return rows.map(({ tenantId: key, tenantParent: parent, ...path }) => ({ ...path, key, parent }));
  },
  update: (manager, key, path) => manager.update(TenantryTenant, { tenantId: String(key) }, path),
};

/** The whole database, across tenants: for the operator's own checks, never for a request. */
export class DoctorRepository {
  readonly #dataSource: DataSource;

  constructor(
    dataSource: DataSource,
    private readonly examined: Examined,
  ) {
    this.#dataSource = dataSource;
  }

  async findBroken(): Promise<{ text: string; isNote: boolean }[]> {
    const { invariants } = this.examined;
    const rows = await this.#query<{ broken: unknown; subject: unknown }>(allOf(invariants));
    return rows.flatMap(({ broken, subject }) => {
      const [noun, wrong, , note] = invariants[Number(broken)] ?? [];
      return noun ? [{ text: `${noun} ${String(subject)}: ${wrong}`, isNote: note !== undefined }] : [];
    });
  }

  findRoots(): Promise<string[]> {
    return this.#subjects(ROOTS);
  }

  /** That of the tenants, and those of departments, where a node is not where its parent says. */
  async findOddTrees(): Promise<StoredTree[]> {
    const isOdd = (await this.#subjects(ODD_TENANTS)).length > 0;
    const owners = await this.#subjects(TENANTS_OF_ODD_DEPTS);
    return [...(isOdd ? [TENANT_TREE] : []), ...owners.map(deptTree)];
  }

  findNodes(tree: StoredTree): Promise<StoredNode[]> {
    return tree.find(this.#dataSource.manager);
  }

  /** Puts paths right, which follow from the parents. */
  async repairPaths(tree: StoredTree): Promise<void> {
    await this.#dataSource.transaction(async (manager) => {
      // As every write of the service begins; but what a deleted tenant left must be sound as well.
      await manager.update(
        TenantryTenant,
        { tenantId: tree.tenantId },
        { treeVersion: () => 'tree_ver + 1' },
      );
      const { wrongPaths } = await examineTree(await tree.find(manager));
      for (const { key, ancestors, depth } of wrongPaths)
        await tree.update(manager, key, { ancestors, depth, ...RAISED });
    });
  }

  async findWrongQuotas(): Promise<WrongQuota[]> {
    const rows = await this.#query<Record<string, string | number | null>>(WRONG_QUOTAS);
    return rows.map((row) => ({
      tenantId: String(row.tenant_id),
      kind: String(row.kind),
      wrong:
        row.counter === null
          ? 'it has no counter'
          : `its counter has ${numbers(row, 'is')}, and should have ${numbers(row, 'should')}`,
    }));
  }

  /** Counts anew from the ledger, the reservations and the tenant. */
  async repairQuota({ tenantId, kind }: QuotaName): Promise<void> {
    await this.#dataSource.transaction(async (manager) => {
      const counter = { tenantId, kind };
      const raised = await manager.update(TenantryQuota, counter, { lastSeq: () => 'last_seq + 1' });
      if (!raised.affected)
        await manager.insert(TenantryQuota, { ...counter, total: null, used: 0, reserved: 0, lastSeq: 0 });
      const active = { ...counter, state: 'active' } as const;
      const entries = new ScopedTable(manager, TenantryQuotaEntry);
      const tenant = await manager.findOne(TenantryTenant, { where: { tenantId }, ...FRESH });
      await manager.update(TenantryQuota, counter, {
        total: isContractQuota(kind) ? (tenant?.quota[kind] ?? 0) : null,
        used: await entries.sum('amount', counter),
        reserved: await new ScopedTable(manager, TenantryReservation).sum('amount', active),
        lastSeq: (await entries.maximum('seq', (seq) => seq, counter)) ?? 1,
      });
    });
  }

  async findMenusBeyondParent(): Promise<string[]> {
    const select = { tenantId: true, tenantParent: true, menuIds: true } as const;
    const tenants = await this.#dataSource.manager.find(TenantryTenant, { select, where: LIVE, ...FRESH });
    const menus = new Map(tenants.map((tenant) => [tenant.tenantId, new Set(menusOf(tenant))]));
    return tenants.flatMap((tenant) => {
      const { tenantId, tenantParent } = tenant;
      if (tenantParent === null || tenantParent === PLATFORM_TENANT) return [];
      const excess = menusOf(tenant).filter((menu) => !menus.get(tenantParent)?.has(menu));
      return excess.length > 0
        ? [`tenant ${tenantId}: its parent has not the menus ${excess.join(', ')}`]
        : [];
    });
  }

  async findQuotasBeyondParent(): Promise<string[]> {
    const rows = await this.#query<{ tenant: string; kind: string }>(QUOTAS_BEYOND_PARENT);
    return rows.map(
      ({ tenant, kind }) => `tenant ${tenant}: its children have more of the quota ${kind} than it has`,
    );
  }

  /** The last entries of a thousand resources, after the resource of this one. */
  findLastEntries(after?: LastEntry): Promise<LastEntry[]> {
    const { tenantId = '', kind = '', resourceId = '' } = after ?? {};
    const values: string[] = [];
    const key = [tenantId, kind, resourceId];
    const place = (index: number) => this.#dialect.place(values.push(key[index] ?? ''));
    return this.#lastEntries(this.#dialect.after(LAST_ENTRY_ORDER, place), values);
  }

  findLastEntriesOf(entries: readonly LastEntry[]): Promise<LastEntry[]> {
    const values: string[] = [];
    const place = (value: string) => this.#dialect.place(values.push(value));
    const alternatives = entries.map(
      ({ tenantId, kind, resourceId }) =>
        `c.tenant_id = ${place(tenantId)} AND c.kind = ${place(kind)} AND c.resource_id = ${place(resourceId)}`,
    );
    return this.#lastEntries(`(${alternatives.join(' OR ')})`, values);
  }

  async #lastEntries(condition: string, values: string[]): Promise<LastEntry[]> {
    const kinds = this.examined.resources.map(({ kind }) => kind);
    const sql = lastEntriesAfter(condition, kinds);
    const rows = await this.#query<Omit<LastEntry, 'version'> & { version: unknown }>(sql, values);
    return rows.map((row) => ({ ...row, version: Number(row.version) }));
  }

  /** The resources of these entries as the journal would record them now, by kind and id. */
  async findJournalled(entries: readonly LastEntry[]): Promise<Map<string, Journalled>> {
    const found = new Map<string, Journalled>();
    for (const resource of this.examined.resources) {
      const { kind, entity, id } = resource;
      const ids = entries
        .filter((entry) => entry.kind === kind)
        .map(({ resourceId }) => ID_TYPES[kind](resourceId));
      const table = new ScopedTable<Audited & ObjectLiteral>(this.#connections, entity);
      for (const row of await table.find({ [id]: In(ids) })) {
        // As JSON has it: times are texts there.
        const fields = JSON.parse(JSON.stringify(resource.toJournal(row))) as JournalFields;
        found.set(`${kind} ${String(row[id])}`, { isDeleted: row.delFlag !== '0', fields });
      }
    }
    return found;
  }

  nounOf(wanted: ChangeKind): string {
    return this.examined.resources.find(({ kind }) => kind === wanted)?.noun ?? wanted;
  }

  async #subjects(sql: string): Promise<string[]> {
    return (await this.#query<{ subject: unknown }>(sql)).map(({ subject }) => String(subject));
  }

  get #connections(): Connections {
    const dataSource = this.#dataSource;
    return {
      dataSource,
      run: (work) => withQueryRunner(dataSource, ({ manager }) => work(manager)),
    };
  }

  get #dialect(): Dialect {
    return dialectOf(this.#dataSource);
  }

  #query<R>(sql: string, values: unknown[] = []): Promise<R[]> {
    return this.#dataSource.query(
      sql.replace(/\btenantry_\w+/g, (name) => tableName(this.#dataSource, name)),
      values,
    );
  }
}
