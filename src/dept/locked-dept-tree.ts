import { MoreThanOrEqual, type EntityManager } from 'typeorm';
import type { AuditStamp } from '../database/audited';
import type { Emit } from '../database/domain-events';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../tree/tree-path';
import { TreeTable } from '../tree/tree-table';
import { LIVE, parentsAmong, withIds, type SiblingName } from './dept.conditions';
import { DEPT_DETAILS, DeptEntity, type DeptFields } from './dept.entity';
import { DeptCreated, DeptDeleted, DeptMoved, DeptUpdated } from './dept.events';
import { findNamed } from './dept-named.repository';

/** Where a department stands: its parent, and the path that follows from it. */
export type DeptPlace = Place & Pick<DeptEntity, 'parentId'>;

/** A department with new values for all but its name and its place. */
export type ReplacedDept = Pick<DeptEntity, 'deptId' | (typeof DEPT_DETAILS)[number]>;

/** A tenant's departments inside a unit of work that holds their tree: the only way to write to it, so no write is without its event. */
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
    return this.#depts.findRow({ deptId, ...LIVE });
  }

  findMany(deptIds: readonly number[]): Promise<DeptEntity[]> {
    return this.#depts.find(withIds(deptIds));
  }

  /** Of these departments, the ones that have child departments. */
  findParents(deptIds: readonly number[]): Promise<number[]> {
    return this.#depts.distinctIds('deptId', parentsAmong(deptIds, this.ctx.tenantId));
  }

  /** How many levels there are below this department. */
  async findHeight(dept: DeptEntity): Promise<number> {
    return (await this.#tree.findDeepest(dept)) - dept.depth;
  }

  async add(fields: DeptFields, place: DeptPlace): Promise<number> {
    const row = Object.assign({}, fields, place, this.audit.created());
    const deptId = await this.#depts.insertRow(row);
    this.#tell(DeptCreated, [deptId]);
    return deptId;
  }

  /** Adds departments in one statement; gives their ids in the same order. */
  async addMany(rows: readonly (DeptFields & DeptPlace)[]): Promise<number[]> {
    if (rows.length === 0) return [];
    const created = this.audit.created();
    const first = await this.#depts.insert(...rows.map((row) => ({ ...row, ...created })));
    // Not counted on from the first: a cluster's ids have gaps. Nobody else adds departments to this tenant now.
    const where = { deptId: MoreThanOrEqual(first) };
    const keys = await this.#depts.keys({ where, order: ['deptId'], after: null, limit: rows.length });
    const deptIds = keys.map(([deptId]) => Number(deptId));
    if (deptIds.length < rows.length) throw new Error('The database gave fewer ids than rows.');
    this.#tell(DeptCreated, deptIds);
    return deptIds;
  }

  /** The departments with these parents and names. */
  findNamed(names: readonly SiblingName[]): Promise<DeptEntity[]> {
    return findNamed(this.#depts, names);
  }

  /** Gives departments their fields in one statement; their names and places stay. */
  async replaceMany(depts: readonly ReplacedDept[]): Promise<void> {
    const parameters: Record<string, string | number | null> = {};
    const chosen = DEPT_DETAILS.map((field) => {
      const cases = depts.map((dept, index) => {
        parameters[`${field}${index}`] = dept[field];
        return `WHEN ${dept.deptId} THEN :${field}${index}`;
      });
      return [field, () => `CASE dept_id ${cases.join(' ')} END`] as const;
    });
    const values = { ...Object.fromEntries(chosen), ...this.audit.touched() };
    const deptIds = depts.map(({ deptId }) => deptId);
    await this.#depts.update(withIds(deptIds), values, parameters);
    this.#tell(DeptUpdated, deptIds);
  }

  async replace({ deptId }: DeptEntity, fields: DeptFields): Promise<void> {
    await this.#depts.update({ deptId, ...LIVE }, { ...fields, ...this.audit.touched() });
    this.#tell(DeptUpdated, [deptId]);
  }

  /** Puts a department, and all that stands below it, at another place. */
  async move(dept: DeptEntity, place: DeptPlace): Promise<void> {
    await this.#depts.update({ deptId: dept.deptId, ...LIVE }, place);
    await this.#tree.moveDescendants(dept, place);
    const { tenantId, username } = this.ctx;
    this.emit(new DeptMoved(tenantId, username, dept.deptId, dept.parentId, place.parentId));
  }

  /** Gives how many of them there were. */
  async markDeleted(deptIds: readonly number[]): Promise<number> {
    const marked = await this.#depts.update(withIds(deptIds), { delFlag: '2', ...this.audit.touched() });
    this.#tell(DeptDeleted, deptIds);
    return marked;
  }

  /** Numbers these departments as they are listed, in one statement. */
  async setOrder(deptIds: readonly number[]): Promise<void> {
    const numbers = deptIds.map((deptId, index) => `WHEN ${deptId} THEN ${index + 1}`).join(' ');
    await this.#depts.update(withIds(deptIds), {
      orderNum: () => `CASE dept_id ${numbers} END`,
      ...this.audit.touched(),
    });
    this.#tell(DeptUpdated, deptIds);
  }

  #tell(Happened: typeof DeptCreated, deptIds: readonly number[]): void {
    const { tenantId, username } = this.ctx;
    for (const deptId of deptIds) this.emit(new Happened(tenantId, username, deptId));
  }
}
