import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type EntityManager } from 'typeorm';
import { BY_MIGRATIONS, ascii, id, instant, text, toTenant } from '../database/columns';
import type { UnitPart } from '../database/open-unit';
import { ScopedTable } from '../database/scoped-table';

/** The kinds of resources that the journal keeps, and what their ids are. */
export const ID_TYPES = { dept: Number, tenant: String, user: Number, key: Number } as const;
export type ChangeKind = keyof typeof ID_TYPES;
export const CHANGE_KINDS = Object.keys(ID_TYPES) as ChangeKind[];
export const OPERATIONS = ['created', 'updated', 'moved', 'deleted', 'restored'] as const;
export type ChangeOperation = (typeof OPERATIONS)[number];

/** Fields of a resource as JSON has them; times are ISO 8601 texts. */
export type JournalFields = Readonly<Record<string, unknown>>;

/** How many entries one statement writes: as many as one request may name. All databases take the values of five times as many. */
const BATCH = 500;

/**
 * One entry of the journal, which is the audit log: what a unit of work has done to one resource. Written in the unit's own transaction, never
 * changed afterwards. A tenant's entries are in the order of their commits, because its version is raised under its lock.
 * What happens to tenants stands in the journal of the platform, whose version is the lock of the tenants' tree.
 */
@Entity('tenantry_change', BY_MIGRATIONS)
@Index('ix_change_resource', ['tenantId', 'kind', 'resourceId', 'version', 'seq'])
@Index('ix_change_time', ['tenantId', 'happenedAt'])
@Index('ix_change_expiry', ['happenedAt'])
export class TenantryChange {
  @PrimaryColumn({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii }) tenantId!: string;

  @ManyToOne('TenantryTenant', { onDelete: 'CASCADE' })
  @JoinColumn(toTenant('fk_change_tenant'))
  tenant?: object;

  /** Of the tenant's tree, as this unit has raised it. */
  @PrimaryColumn({ type: 'bigint', transformer: id }) version!: number;
  /** From 0, within the version. */
  @PrimaryColumn({ type: 'integer' }) seq!: number;
  /** The version of the entry before this one; 0 if there is none. */
  @Column({ type: 'bigint', transformer: id }) prev!: number;
  /** `journal` marks where the journal of a tenant begins that is older than the journal. */
  @Column({ type: 'varchar', length: 16, ...ascii }) kind!: ChangeKind | 'journal';
  @Column({ type: 'varchar', length: 16, ...ascii }) operation!: ChangeOperation | 'begun';
  @Column({ name: 'resource_id', type: 'varchar', length: 20, ...ascii }) resourceId!: string;
  /** Of a tenant: its path with its own code, `,0,000000,100001,`; of one that has moved, the old path, `;` and the new one. */
  @Column({ type: 'text', nullable: true, ...ascii }) lineage!: string | null;
  /** JSON of `ChangedFields`. */
  @Column({ type: 'text', ...text }) fields!: string;
  @Column({ name: 'changed_by', type: 'varchar', length: 64, ...text }) by!: string;
  @Column({ name: 'happened_at', ...instant }) happenedAt!: Date;
  @Column({ name: 'request_id', type: 'varchar', length: 64, nullable: true, ...ascii })
  requestId!: string | null;
}

/** All fields of what was created, restored or deleted; of what was updated or moved, those that have changed. */
export interface ChangedFields {
  readonly before: JournalFields | null;
  readonly after: JournalFields | null;
}

export interface Change extends ChangedFields {
  /** In whose journal it stands. */
  readonly tenantId: string;
  readonly kind: ChangeKind;
  readonly operation: ChangeOperation;
  readonly resourceId: string;
  readonly lineage?: string;
  readonly by: string;
  readonly happenedAt: Date;
  readonly requestId: string | null;
}

const PREVIOUS = `COALESCE((SELECT p.version FROM
  (SELECT MAX(version) AS version FROM :table WHERE tenant_id = :tenantId) p), 0)`;

/** What a unit has locked and changed; it is written to the journal before the COMMIT. */
export class ChangeLog implements UnitPart {
  /** Of the tenants that the unit has locked: the versions that it has raised their trees to. */
  readonly versions = new Map<string, number>();
  readonly #changes = new Map<string, Change[]>();
  /** Where the latest change of each resource stands among those of its tenant. */
  readonly #places = new Map<string, number>();

  note(change: Change): void {
    const { tenantId, kind, resourceId } = change;
    const changes = this.#changes.get(tenantId) ?? [];
    this.#changes.set(tenantId, changes);
    const key = `${tenantId} ${kind} ${resourceId}`;
    const place = this.#places.get(key) ?? -1;
    const earlier = changes[place];
    if (earlier && canJoin(earlier, change)) changes[place] = joined(earlier, change);
    else this.#places.set(key, changes.push(change) - 1);
  }

  /** Of the tenants that are changed. */
  get lineages(): string[] {
    return [...this.#changes.values()].flatMap((changes) => changes.flatMap(({ lineage = [] }) => lineage));
  }

  async beforeCommit(manager: EntityManager): Promise<void> {
    for (const [tenantId, changes] of this.#changes) {
      const version = this.versions.get(tenantId);
      if (version === undefined) throw new Error(`The tree of tenant ${tenantId} is not locked.`);
      for (let from = 0; from < changes.length; from += BATCH) {
        if (from > 0) await yieldToEventLoop();
        const rows = changes.slice(from, from + BATCH).map((change, index) => {
          const { before, after, lineage = null } = change;
          const seq = from + index;
          const prev = seq === 0 ? () => PREVIOUS : version;
          const fields = JSON.stringify({ before, after });
          // Not a spread, which costs thirty times as much on Node 20.
          return Object.assign({}, change, { version, seq, prev, lineage, fields });
        });
        await new ScopedTable(manager, TenantryChange).insertAll(rows, { tenantId });
      }
    }
  }
}

/** Two changes of one resource in one unit are one entry, unless the resource ends or begins anew between them. */
function canJoin(earlier: Change, { operation }: Change): boolean {
  return earlier.operation !== 'deleted' && (operation === 'updated' || operation === 'moved');
}

function joined(first: Change, second: Change): Change {
  return {
    ...second,
    operation: first.operation === 'updated' ? second.operation : first.operation,
    ...lineageOf(first, second),
    before: first.before && { ...second.before, ...first.before },
    after: { ...first.after, ...second.after },
  };
}

/** Of a new tenant its path in the end; of another one that has moved, where it stood before both and where it stands after. */
function lineageOf(first: Change, second: Change): Pick<Change, 'lineage'> {
  if (first.lineage === undefined) return {};
  const [from] = first.lineage.split(';');
  const to = second.lineage?.split(';')[1];
  // Only a move tells a new path.
  if (to === undefined) return { lineage: first.lineage };
  return { lineage: first.before ? `${from};${to}` : to };
}

/** Of two states of a resource, the fields that differ. */
export function changedFields(before: JournalFields, after: JournalFields): ChangedFields {
  const isSame = (one: unknown, other: unknown) =>
    one === other || JSON.stringify(one) === JSON.stringify(other);
  const names = Object.keys(after).filter((name) => !isSame(before[name], after[name]));
  const pick = (from: JournalFields) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}
