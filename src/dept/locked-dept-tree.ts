import { In } from 'typeorm';
import type { AuditStamp } from '../database/audited';
import type { TenantBound } from '../tenancy/tenant-bound';
import type { Place } from '../tree/tree-path';
import { TreeTable } from '../tree/tree-table';
import type { DeptEntity, DeptFields } from './dept.entity';

const LIVE = { delFlag: '0' } as const;

/** Where a department stands: its parent, and the path that follows from it. */
export type DeptPlace = Place & Pick<DeptEntity, 'parentId'>;

/** A tenant's departments inside a unit of work that holds their tree: the only way to write to it. */
export class LockedDeptTree {
  readonly #depts: TenantBound<DeptEntity>;
  readonly #tree: TreeTable<DeptEntity>;

  constructor(
    depts: TenantBound<DeptEntity>,
    private readonly audit: AuditStamp,
    /** Of these departments, the ones that users belong to. */
    readonly findOccupied: (deptIds: readonly number[]) => Promise<number[]>,
  ) {
    this.#depts = depts;
    this.#tree = new TreeTable(depts);
  }

  find(deptId: number): Promise<DeptEntity | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  /** Of these ids, the ones that are departments. */
  findExisting(deptIds: readonly number[]): Promise<number[]> {
    return this.#depts.distinctIds('deptId', { deptId: In([...deptIds]), ...LIVE });
  }

  /** Of these departments, the ones that have child departments. */
  findParents(deptIds: readonly number[]): Promise<number[]> {
    return this.#depts.distinctIds('parentId', { parentId: In([...deptIds]), ...LIVE });
  }

  /** How many levels there are below this department. */
  async findHeight(dept: DeptEntity): Promise<number> {
    return (await this.#tree.findDeepest(dept)) - dept.depth;
  }

  async add(fields: DeptFields, place: DeptPlace): Promise<number> {
    const { deptId } = await this.#depts.insert({ ...fields, ...place, ...this.audit.created() });
    if (deptId === undefined) throw new Error('The database gave the new department no id.');
    return deptId;
  }

  async replace(deptId: number, fields: DeptFields): Promise<void> {
    await this.#depts.update({ deptId, ...LIVE }, { ...fields, ...this.audit.touched() });
  }

  /** Puts a department, and all that stands below it, at another place. */
  async move(dept: DeptEntity, place: DeptPlace): Promise<void> {
    await this.#depts.update({ deptId: dept.deptId, ...LIVE }, place);
    await this.#tree.moveDescendants(dept, place);
  }

  async markDeleted(deptIds: readonly number[]): Promise<void> {
    await this.#depts.update(
      { deptId: In([...deptIds]), ...LIVE },
      { delFlag: '2', ...this.audit.touched() },
    );
  }
}
