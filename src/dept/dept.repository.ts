import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditStamp } from '../database/audited';
import { changedFields, type ChangeOperation, type JournalFields } from '../database/change-log';
import type { IdempotentRequest } from '../database/idempotent-request';
import type { OpenUnit } from '../database/open-unit';
import { padded } from '../database/sql-statement';
import { UnitOfWork } from '../database/unit-of-work';
import type { RequestContext } from '../tenancy/request-context';
import { treeLock, UserDirectory } from '../tenancy/tenant-access';
import { Clock } from '../time/clock';
import { DeptReader, findNamed } from './dept-reader.repository';
import { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../tree/tree-path';
import { TreeTable } from '../tree/tree-table';
import { BY_ID, LIVE, parentsAmong, withIds, type SiblingName } from './dept.conditions';
import { toDeptJournal } from './dept.mapper';
import { DEPT_DETAILS, DeptEntity, type DeptDetail, type DeptFields, type DeptRow } from './dept.entity';
import { DeptCreated, DeptDeleted, DeptMoved, DeptRestored, DeptUpdated } from './dept.events';

export type DeptPlace = Place & Pick<DeptEntity, 'parentId'>;

/** A department as it is, and what some of its details become. */
export interface DeptChange<D extends DeptDetail> {
  readonly dept: DeptEntity;
  readonly fields: Pick<DeptEntity, D>;
}

/** Reads departments of a tenant, and writes them in a unit of work that locks its tree. */
@Injectable()
export class DeptRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly users: UserDirectory,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): DeptReader {
    return new DeptReader(this.#unitOfWork, ctx);
  }

  /** Lets the database find its way after an import. It may fail: the database does it by itself later. */
  async analyze(ctx: RequestContext): Promise<void> {
    const analyze = (manager: EntityManager) => new TenantBound(manager, DeptEntity, ctx).analyze();
    if (!ctx.unit) await this.#unitOfWork.withoutTransaction(analyze).catch(() => undefined);
  }

  /** Runs `work` while no other unit changes this tenant's tree; it may run again after a conflict. */
  transaction<T>(
    ctx: RequestContext,
    work: (tree: LockedDeptTree) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    const run = (unit: OpenUnit) => {
      const audit = new AuditStamp(ctx.username, this.clock.now());
      const findOccupied = (ids: readonly number[]) => this.users.findOccupied(ctx, ids, unit.manager);
      return work(new LockedDeptTree(unit, ctx, audit, findOccupied));
    };
    return this.#unitOfWork.runIn(ctx.unit, ctx.tenantId, treeLock(ctx), run, once);
  }
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
    return this.#depts.findOne({ deptId, delFlag: '2' });
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

  async replace(dept: DeptEntity, fields: DeptFields): Promise<void> {
    const { deptId } = dept;
    const touched = this.audit.touched();
    await this.#depts.update({ deptId, ...LIVE }, { ...fields, ...touched });
    this.#emitEach(DeptUpdated, [deptId]);
    this.#noteUpdate('updated', dept, { ...fields, ...touched });
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

  async markDeleted(depts: readonly DeptEntity[]): Promise<void> {
    const deptIds = depts.map(({ deptId }) => deptId);
    await this.#depts.update(withIds(deptIds), { delFlag: '2', ...this.audit.touched() });
    this.#emitEach(DeptDeleted, deptIds);
    for (const dept of depts) this.#note('deleted', dept.deptId, toDeptJournal(dept), null);
  }

  async restore(dept: DeptEntity, place: DeptPlace): Promise<void> {
    const { deptId } = dept;
    const changes = { ...place, ...LIVE, ...this.audit.touched() };
    await this.#depts.update({ deptId, delFlag: '2' }, changes);
    this.#emitEach(DeptRestored, [deptId]);
    this.#note('restored', deptId, null, toDeptJournal(Object.assign({}, dept, changes)));
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
    this.unit.changes.note({ tenantId, by, requestId, happenedAt: this.audit.now, ...what });
  }
}
