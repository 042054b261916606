import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { In } from 'typeorm';
import type { STAMPS } from '../database/audited';
import { inChunks } from '../database/in-chunks';
import type { OpenUnit } from '../database/open-unit';
import { ScopedTable } from '../database/scoped-table';
import { ManagedPart } from '../tenancy/managed-part';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../database/tree-path';
import { below, TreeTable } from '../database/tree-table';
import { JournalledRows, type Journalled, type RowChange } from '../resource/journalled-rows.repository';
import {
  BY_ID,
  DELETED,
  deletedBelow,
  HAS_CHILDREN,
  LIVE,
  withIds,
  type SiblingName,
  type Where,
} from './dept.conditions';
import { findNamed } from './dept-reader.repository';
import { DEPT_DETAILS, TenantryDept, type DeptDetail, type DeptFields } from './dept.entity';
import { DeptCreated, DeptDeleted, DeptMoved, DeptRestored, DeptUpdated } from './dept.events';
import { toDeptJournal } from './dept.mapper';

const TREE_ORDER = { ancestors: 'ASC', orderNum: 'ASC', deptId: 'ASC' } as const;
const PAGE = 1000;

export type DeptPlace = Place & Pick<TenantryDept, 'parentId'>;

/** A department that brings its id, and what is known of who made and changed it. */
export type AdoptedRow = DeptFields &
  DeptPlace &
  Pick<TenantryDept, 'deptId'> &
  Partial<Pick<TenantryDept, (typeof STAMPS)[number]>>;

const EVENTS = {
  created: DeptCreated,
  updated: DeptUpdated,
  deleted: DeptDeleted,
  restored: DeptRestored,
};

export const JOURNALLED_DEPT: Journalled<TenantryDept> = {
  kind: 'dept',
  noun: 'department',
  entity: TenantryDept,
  id: 'deptId',
  toJournal: toDeptJournal,
  toEvent: (operation, { tenantId, username }, { deptId, parentId }, before) =>
    operation === 'moved'
      ? new DeptMoved(tenantId, username, deptId, before.parentId, parentId)
      : new EVENTS[operation](tenantId, username, deptId),
};

/**
 * A tenant's departments inside a unit of work that locks their tree. Only it writes them, and it refuses every write outside the
 * part that the caller manages.
 */
export class LockedDeptTree {
  /** For refusals that shall come before others: each write asks it again. */
  readonly part: ManagedPart;
  readonly #unit: OpenUnit;
  readonly #depts: TenantBound<TenantryDept>;
  readonly #tree: TreeTable<TenantryDept>;
  readonly #rows: JournalledRows<TenantryDept>;

  constructor(
    unit: OpenUnit,
    ctx: RequestContext,
    now: Date,
    /** Of these departments, the ones that users belong to. */
    readonly findOccupied: (deptIds: readonly number[]) => Promise<number[]>,
  ) {
    this.part = ManagedPart.of(ctx);
    this.#unit = unit;
    this.#depts = new TenantBound(unit.manager, TenantryDept, ctx);
    this.#tree = new TreeTable(this.#depts);
    this.#rows = new JournalledRows(unit, ctx, now, JOURNALLED_DEPT, this.#depts);
  }

  find(deptId: number): Promise<TenantryDept | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  findDeleted(deptId: number): Promise<TenantryDept | null> {
    return this.#depts.findOne({ deptId, ...DELETED });
  }

  findMany(deptIds: readonly number[]): Promise<TenantryDept[]> {
    return this.#depts.find(withIds(deptIds), { order: { deptId: 'ASC' }, ...BY_ID });
  }

  findNamed(names: readonly SiblingName[]): Promise<TenantryDept[]> {
    return findNamed(this.#depts, names);
  }

  /** Departments, and the ids of those among them that have child departments. */
  async findWithParents(deptIds: readonly number[]): Promise<{ depts: TenantryDept[]; parentIds: number[] }> {
    const options = { order: { deptId: 'ASC' }, ...BY_ID } as const;
    const depts = await this.#depts.findWith(withIds(deptIds), 'hasChildren', HAS_CHILDREN, options);
    const parents = depts.filter(({ hasChildren }) => Number(hasChildren) === 1);
    return { depts, parentIds: parents.map(({ deptId }) => deptId) };
  }

  hasMoreBelow(count: number, dept: TenantryDept): Promise<boolean> {
    return this.#depts.hasMoreThan(count, below<TenantryDept>(dept));
  }

  /** All below a department, parents before their children. */
  findBelow(dept: TenantryDept): Promise<TenantryDept[]> {
    return this.#findInTreeOrder(below<TenantryDept>(dept));
  }

  /** What is restored with a deleted department: what stood below it and was deleted together with it. */
  async findDeletedWith(dept: TenantryDept): Promise<TenantryDept[]> {
    const { deletedWith } = dept;
    return deletedWith === null ? [] : this.#findInTreeOrder(deletedBelow(dept, deletedWith));
  }

  /** How many levels there are below this department. */
  async findHeight(dept: TenantryDept): Promise<number> {
    return (await this.#tree.findDeepest(dept)) - dept.depth;
  }

  async add(fields: DeptFields, place: DeptPlace): Promise<number> {
    const [deptId = 0] = await this.addMany([Object.assign({}, fields, place)]);
    return deptId;
  }

  /** Adds departments in one statement; gives their ids in the same order. */
  async addMany(rows: readonly (DeptFields & DeptPlace)[]): Promise<number[]> {
    this.part.refusePlaces(rows);
    return this.#rows.insert(...rows);
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.#depts.exists(LIVE));
  }

  /** Of these ids, the ones that departments have, of any tenant and deleted or not. */
  findTaken(deptIds: readonly number[]): Promise<number[]> {
    const all = new ScopedTable(this.#unit.manager, TenantryDept);
    return inChunks(deptIds, (chunk) => all.distinctIds('deptId', { deptId: In([...chunk]) }, BY_ID));
  }

  /** Adds departments that bring their ids, parents before their children. */
  async adopt(rows: readonly AdoptedRow[]): Promise<void> {
    this.part.refusePlaces(rows);
    return this.#rows.adopt(rows);
  }

  /** With a place, it moves there, with all below it. Gives the new revision. */
  async replace(dept: TenantryDept, fields: DeptFields, place?: DeptPlace): Promise<number> {
    this.refuseChange(dept, fields, place !== undefined);
    this.part.refusePlaces(place ? [place] : []);
    if (place) await this.#tree.moveDescendants(dept, place);
    return this.#rows.update(dept, { ...fields, ...place }, place ? 'moved' : 'updated');
  }

  /** Replaces the details of departments in one statement; their names and places stay. */
  async replaceMany(changes: readonly RowChange<TenantryDept, DeptDetail>[]): Promise<void> {
    for (const { row, values } of changes) this.refuseChange(row, values, false);
    return this.#rows.updateEach(changes, DEPT_DETAILS);
  }

  /** Numbers these departments as they are listed, in one statement. */
  async setOrder(depts: readonly TenantryDept[]): Promise<void> {
    this.part.refuseNotBelow(depts);
    const changes = depts.map((row, index) => ({ row, values: { orderNum: index + 1 } }));
    return this.#rows.updateEach(changes, ['orderNum']);
  }

  /** With a top, of which they are the subtree, they are restored together. */
  async markDeleted(depts: readonly TenantryDept[], top: TenantryDept | null = null): Promise<void> {
    this.part.refuseNotBelow(depts);
    return this.#rows.markDeleted(depts, { deletedWith: top?.deptId ?? null });
  }

  /** Makes a deleted department live again, with `descendants` that were deleted together with it. */
  async restore(dept: TenantryDept, place: DeptPlace, descendants: readonly TenantryDept[]): Promise<void> {
    this.part.refusePlaces([place]);
    await this.refuseRestore(dept, place.parentId);
    await this.#rows.restore([dept], { ...place, deletedWith: null });
    await this.#rows.restore(descendants, { deletedWith: null }, (where, live) =>
      this.#tree.moveDescendants(dept, place, where, live),
    );
  }

  /** Of a department that is managed itself only the details may change. */
  refuseChange(dept: TenantryDept, fields: Pick<DeptFields, 'status'>, isMove: boolean): void {
    if (isMove || !this.part.mayChange(dept, fields)) this.part.refuseNotBelow([dept]);
  }

  /**
   * A department that comes back elsewhere than it stood is moved: it must have stood below a managed department that lives. So must one that
   * cannot come back where it stood: of others nothing is told.
   */
  async refuseRestore(dept: TenantryDept, parentId: number): Promise<void> {
    if (this.part.isWhole || (parentId === dept.parentId && (await this.find(parentId)))) return;
    this.part.among(await this.findMany(this.part.deptIds)).refuseNotBelow([dept]);
  }

  /** Page by page: drivers turn the rows of one answer into objects in one go. Parents come before their children. */
  async #findInTreeOrder(where: Where): Promise<TenantryDept[]> {
    const found: TenantryDept[] = [];
    for (let isMore = true; isMore;) {
      const last = found.at(-1);
      const after = last ? [last.ancestors, last.orderNum, last.deptId] : null;
      const options = { order: TREE_ORDER, after, limit: PAGE, index: 'ix_dept_subtree' };
      const page = await this.#depts.find(where, options);
      found.push(...page);
      isMore = page.length === PAGE;
      if (isMore) await yieldToEventLoop();
    }
    return found;
  }
}
