import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { AuditStamp } from '../database/audited';
import { changedFields, ChangeLog, type ChangeOperation, type JournalFields } from '../journal/change-log';
import { chunksOf } from '../database/in-chunks';
import type { OpenUnit } from '../database/open-unit';
import { padded } from '../database/sql-statement';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../database/tree-path';
import { below, TreeTable } from '../database/tree-table';
import {
  BY_ID,
  DELETED,
  deletedBelow,
  LIVE,
  parentsAmong,
  withIds,
  type SiblingName,
  type Where,
} from './dept.conditions';
import { findNamed } from './dept-reader.repository';
import { DEPT_DETAILS, DeptEntity, type DeptDetail, type DeptFields, type DeptRow } from './dept.entity';
import { DeptCreated, DeptDeleted, DeptMoved, DeptRestored, DeptUpdated } from './dept.events';
import { toDeptJournal } from './dept.mapper';

const TREE_ORDER = { ancestors: 'ASC', orderNum: 'ASC', deptId: 'ASC' } as const;
const PAGE = 1000;

export type DeptPlace = Place & Pick<DeptEntity, 'parentId'>;

/** A department as it is, and what some of its details become. */
export interface DeptChange<D extends DeptDetail> {
  readonly dept: DeptEntity;
  readonly fields: Pick<DeptEntity, D>;
}

/**
 * A tenant's departments inside a unit of work that locks their tree. Only it writes them, so every write has its event and its
 * entry in the journal.
 */
export class LockedDeptTree {
  readonly #depts: TenantBound<DeptEntity>;
  readonly #tree: TreeTable<DeptEntity>;

  constructor(
    private readonly unit: OpenUnit,
    private readonly ctx: RequestContext,
    private readonly audit: AuditStamp,
    /** Of these departments, the ones that users belong to. */
    readonly findOccupied: (deptIds: readonly number[]) => Promise<number[]>,
  ) {
    this.#depts = new TenantBound(unit.manager, DeptEntity, ctx);
    this.#tree = new TreeTable(this.#depts);
  }

  find(deptId: number): Promise<DeptEntity | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  findDeleted(deptId: number): Promise<DeptEntity | null> {
    return this.#depts.findOne({ deptId, ...DELETED });
  }

  findMany(deptIds: readonly number[]): Promise<DeptEntity[]> {
    return this.#depts.find(withIds(deptIds), { order: { deptId: 'ASC' }, ...BY_ID });
  }

  findNamed(names: readonly SiblingName[]): Promise<DeptEntity[]> {
    return findNamed(this.#depts, names);
  }

  findParents(deptIds: readonly number[]): Promise<number[]> {
    return this.#depts.distinctIds('deptId', parentsAmong(deptIds, this.ctx.tenantId), BY_ID);
  }

  hasMoreBelow(count: number, dept: DeptEntity): Promise<boolean> {
    return this.#depts.hasMoreThan(count, below<DeptEntity>(dept));
  }

  /** All below a department, parents before their children. */
  findBelow(dept: DeptEntity): Promise<DeptEntity[]> {
    return this.#findInTreeOrder(below<DeptEntity>(dept));
  }

  /** What is restored with a deleted department: what stood below it and was deleted together with it. */
  async findDeletedWith(dept: DeptEntity): Promise<DeptEntity[]> {
    const { deletedWith } = dept;
    return deletedWith === null ? [] : this.#findInTreeOrder(deletedBelow(dept, deletedWith));
  }

  /** How many levels there are below this department. */
  async findHeight(dept: DeptEntity): Promise<number> {
    return (await this.#tree.findDeepest(dept)) - dept.depth;
  }

  async add(fields: DeptFields, place: DeptPlace): Promise<number> {
    const row = Object.assign({}, fields, place, this.audit.created());
    const deptId = await this.#depts.insert(row);
    this.#emitEach(DeptCreated, [deptId]);
    this.#note('created', deptId, null, toDeptJournal(row));
    return deptId;
  }

  /** Adds departments in one statement; gives their ids in the same order. */
  async addMany(rows: readonly (DeptFields & DeptPlace)[]): Promise<number[]> {
    const created = this.audit.created();
    const whole = rows.map((row) => Object.assign({}, row, created));
    const deptIds = await this.#depts.insertMany(whole, 'deptId');
    if (deptIds.length < rows.length) throw new Error('The database gave fewer ids than rows.');
    this.#emitEach(DeptCreated, deptIds);
    for (const [index, row] of whole.entries())
      this.#note('created', deptIds[index] ?? 0, null, toDeptJournal(row));
    return deptIds;
  }

  /** Gives the new revision. */
  async replace(dept: DeptEntity, fields: DeptFields): Promise<number> {
    const { deptId, revision } = dept;
    const touched = this.audit.touched();
    await this.#depts.update({ deptId, ...LIVE }, { ...fields, ...touched });
    this.#emitEach(DeptUpdated, [deptId]);
    this.#noteUpdate('updated', dept, { ...fields, ...touched });
    return revision + 1;
  }

  /** Replaces the details of departments in one statement; their names and places stay. */
  replaceMany(changes: readonly DeptChange<DeptDetail>[]): Promise<void> {
    return this.#updateEach(changes, DEPT_DETAILS);
  }

  /** Numbers these departments as they are listed, in one statement. */
  setOrder(depts: readonly DeptEntity[]): Promise<void> {
    const changes = depts.map((dept, index) => ({ dept, fields: { orderNum: index + 1 } }));
    return this.#updateEach(changes, ['orderNum']);
  }

  async move(dept: DeptEntity, place: DeptPlace): Promise<void> {
    await this.#depts.update({ deptId: dept.deptId, ...LIVE }, place);
    await this.#tree.moveDescendants(dept, place);
    const { tenantId, username } = this.ctx;
    this.unit.emit(new DeptMoved(tenantId, username, dept.deptId, dept.parentId, place.parentId));
    this.#noteUpdate('moved', dept, place);
  }

  /** With a top, of which they are the subtree, they are restored together. */
  async markDeleted(depts: readonly DeptEntity[], top: DeptEntity | null = null): Promise<void> {
    const deleted = { ...DELETED, deletedWith: top?.deptId ?? null, ...this.audit.touched() };
    await this.#inSlices(depts, (deptIds) => this.#depts.update(withIds(deptIds), deleted));
    this.#noteDeleted(depts);
  }

  /** Makes a deleted department live again, with `descendants` that were deleted together with it. */
  async restore(dept: DeptEntity, place: DeptPlace, descendants: readonly DeptEntity[]): Promise<void> {
    const live = { ...LIVE, deletedWith: null, ...this.audit.touched() };
    await this.#depts.update({ deptId: dept.deptId, ...DELETED }, { ...place, ...live });
    await this.#inSlices(descendants, (deptIds) =>
      this.#tree.moveDescendants(dept, place, { ...withIds(deptIds), ...DELETED }, live),
    );
    const restored = [Object.assign({}, dept, place), ...descendants];
    this.#emitEach(
      DeptRestored,
      restored.map(({ deptId }) => deptId),
    );
    for (const each of restored)
      this.#note('restored', each.deptId, null, toDeptJournal(Object.assign({}, each, live)));
  }

  /** All indexes change with the flag: on SQLite one statement for 10,000 rows would hold up every other request. */
  async #inSlices(
    depts: readonly DeptEntity[],
    write: (deptIds: readonly number[]) => Promise<unknown>,
  ): Promise<void> {
    for (const slice of chunksOf(depts.map(({ deptId }) => deptId))) {
      await write(slice);
      await yieldToEventLoop();
    }
  }

  #noteDeleted(depts: readonly DeptEntity[]): void {
    this.#emitEach(
      DeptDeleted,
      depts.map(({ deptId }) => deptId),
    );
    for (const dept of depts) this.#note('deleted', dept.deptId, toDeptJournal(dept), null);
  }

  /** Page by page: drivers turn the rows of one answer into objects in one go. Parents come before their children. */
  async #findInTreeOrder(where: Where): Promise<DeptEntity[]> {
    const found: DeptEntity[] = [];
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

  async #updateEach<D extends DeptDetail>(
    changes: readonly DeptChange<D>[],
    details: readonly D[],
  ): Promise<void> {
    const named: Record<string, string | number | null> = {};
    const values = details.map((detail) => {
      const cases = padded(changes).map(({ dept, fields }, index) => {
        named[`dept${index}`] = String(dept.deptId);
        named[`${detail}${index}`] = fields[detail];
        return `WHEN :dept${index} THEN :${detail}${index}`;
      });
      const column = this.#depts.columnName(detail);
      return [detail, () => `CASE dept_id ${cases.join(' ')} ELSE ${column} END`] as const;
    });
    const deptIds = changes.map(({ dept }) => dept.deptId);
    const touched = this.audit.touched();
    await this.#depts.update(withIds(deptIds), { ...Object.fromEntries(values), ...touched }, named);
    this.#emitEach(DeptUpdated, deptIds);
    for (const { dept, fields } of changes) this.#noteUpdate('updated', dept, { ...fields, ...touched });
  }

  #emitEach(Event: typeof DeptCreated, deptIds: readonly number[]): void {
    const { tenantId, username } = this.ctx;
    for (const deptId of deptIds) this.unit.emit(new Event(tenantId, username, deptId));
  }

  #noteUpdate(operation: 'updated' | 'moved', dept: DeptEntity, changes: Partial<DeptRow>): void {
    const { before, after } = changedFields(
      toDeptJournal(dept),
      toDeptJournal(Object.assign({}, dept, changes)),
    );
    this.#note(operation, dept.deptId, before, after);
  }

  #note(
    operation: ChangeOperation,
    deptId: number,
    before: JournalFields | null,
    after: JournalFields | null,
  ): void {
    const { tenantId, username: by, requestId } = this.ctx;
    const what = { kind: 'dept', operation, resourceId: String(deptId), before, after } as const;
    this.unit.part(ChangeLog).note({ tenantId, by, requestId, happenedAt: this.audit.now, ...what });
  }
}
