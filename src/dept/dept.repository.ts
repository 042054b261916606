import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditStamp } from '../database/audited';
import type { Emit } from '../database/domain-events';
import type { IdempotentRequest } from '../database/idempotent-request';
import { padded } from '../database/sql-statement';
import { UnitOfWork } from '../database/unit-of-work';
import type { RequestContext } from '../tenancy/request-context';
import { treeLock, UserDirectory } from '../tenancy/tenant-access';
import { Clock } from '../time/clock';
import { DeptReader, findNamed } from './dept-reader.repository';
import { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../tree/tree-path';
import { TreeTable } from '../tree/tree-table';
import { LIVE, parentsAmong, withIds, type SiblingName } from './dept.conditions';
import { DEPT_DETAILS, DeptEntity, type DeptDetail, type DeptFields } from './dept.entity';
import { DeptCreated, DeptDeleted, DeptMoved, DeptUpdated } from './dept.events';

export type DeptPlace = Place & Pick<DeptEntity, 'parentId'>;

export type ReplacedDept = Pick<DeptEntity, 'deptId' | DeptDetail>;

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
    const audit = new AuditStamp(ctx.username, () => this.clock.now());
    const run = (manager: EntityManager, emit: Emit) => {
      const findOccupied = (ids: readonly number[]) => this.users.findOccupied(ctx, ids, manager);
      return work(new LockedDeptTree(manager, ctx, audit, emit, findOccupied));
    };
    return this.#unitOfWork.runIn(ctx.unit, ctx.tenantId, treeLock(ctx), run, once);
  }
}

/** A tenant's departments inside a unit of work that locks their tree. Only it writes them, so every write has its event. */
export class LockedDeptTree {
  readonly #depts: TenantBound<DeptEntity>;
  readonly #tree: TreeTable<DeptEntity>;

  constructor(
    manager: EntityManager,
    private readonly ctx: RequestContext,
    private readonly audit: AuditStamp,
    private readonly emit: Emit,
    /** Of these departments, the ones that users belong to. */
    readonly findOccupied: (deptIds: readonly number[]) => Promise<number[]>,
  ) {
    this.#depts = new TenantBound(manager, DeptEntity, ctx);
    this.#tree = new TreeTable(this.#depts);
  }

  find(deptId: number): Promise<DeptEntity | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  findMany(deptIds: readonly number[]): Promise<DeptEntity[]> {
    return this.#depts.find(withIds(deptIds));
  }

  findNamed(names: readonly SiblingName[]): Promise<DeptEntity[]> {
    return findNamed(this.#depts, names);
  }

  findParents(deptIds: readonly number[]): Promise<number[]> {
    return this.#depts.distinctIds('deptId', parentsAmong(deptIds, this.ctx.tenantId));
  }

  /** How many levels there are below this department. */
  async findHeight(dept: DeptEntity): Promise<number> {
    return (await this.#tree.findDeepest(dept)) - dept.depth;
  }

  async add(fields: DeptFields, place: DeptPlace): Promise<number> {
    const row = Object.assign({}, fields, place, this.audit.created());
    const deptId = await this.#depts.insert(row);
    this.#emitEach(DeptCreated, [deptId]);
    return deptId;
  }

  /** Adds departments in one statement; gives their ids in the same order. */
  async addMany(rows: readonly (DeptFields & DeptPlace)[]): Promise<number[]> {
    const created = this.audit.created();
    const deptIds = await this.#depts.insertMany(
      rows.map((row) => Object.assign({}, row, created)),
      'deptId',
    );
    if (deptIds.length < rows.length) throw new Error('The database gave fewer ids than rows.');
    this.#emitEach(DeptCreated, deptIds);
    return deptIds;
  }

  async replace({ deptId }: DeptEntity, fields: DeptFields): Promise<void> {
    await this.#depts.update({ deptId, ...LIVE }, { ...fields, ...this.audit.touched() });
    this.#emitEach(DeptUpdated, [deptId]);
  }

  /** Replaces the details of departments in one statement; their names and places stay. */
  replaceMany(depts: readonly ReplacedDept[]): Promise<void> {
    return this.#updateEach(depts, DEPT_DETAILS);
  }

  /** Numbers these departments as they are listed, in one statement. */
  setOrder(deptIds: readonly number[]): Promise<void> {
    const depts = deptIds.map((deptId, index) => ({ deptId, orderNum: index + 1 }));
    return this.#updateEach(depts, ['orderNum']);
  }

  async move(dept: DeptEntity, place: DeptPlace): Promise<void> {
    await this.#depts.update({ deptId: dept.deptId, ...LIVE }, place);
    await this.#tree.moveDescendants(dept, place);
    const { tenantId, username } = this.ctx;
    this.emit(new DeptMoved(tenantId, username, dept.deptId, dept.parentId, place.parentId));
  }

  /** Gives how many of them there were. */
  async markDeleted(deptIds: readonly number[]): Promise<number> {
    const marked = await this.#depts.update(withIds(deptIds), { delFlag: '2', ...this.audit.touched() });
    this.#emitEach(DeptDeleted, deptIds);
    return marked;
  }

  async #updateEach<D extends DeptDetail>(
    depts: readonly Pick<DeptEntity, 'deptId' | D>[],
    details: readonly D[],
  ): Promise<void> {
    const named: Record<string, string | number | null> = {};
    const values = details.map((detail) => {
      const cases = padded(depts).map((dept, index) => {
        named[`dept${index}`] = String(dept.deptId);
        named[`${detail}${index}`] = dept[detail];
        return `WHEN :dept${index} THEN :${detail}${index}`;
      });
      const column = this.#depts.columnName(detail);
      return [detail, () => `CASE dept_id ${cases.join(' ')} ELSE ${column} END`] as const;
    });
    const deptIds = depts.map(({ deptId }) => deptId);
    const changes = { ...Object.fromEntries(values), ...this.audit.touched() };
    await this.#depts.update(withIds(deptIds), changes, named);
    this.#emitEach(DeptUpdated, deptIds);
  }

  #emitEach(Event: typeof DeptCreated, deptIds: readonly number[]): void {
    const { tenantId, username } = this.ctx;
    for (const deptId of deptIds) this.emit(new Event(tenantId, username, deptId));
  }
}
