import { And, In, LessThan, MoreThanOrEqual, type FindOptionsWhere } from 'typeorm';
import type { TenantBound } from '../tenancy/tenant-bound';
import type { Clock } from '../time/clock';
import { descendantPaths, pathBelow, type Place } from './dept-tree';
import type { DeptEntity, DeptFields } from './dept.entity';

const LIVE = { delFlag: '0' } as const;

/** A tenant's departments inside a unit of work that holds their tree: the only way to write to it. */
export class LockedDeptTree {
  readonly #depts: TenantBound<DeptEntity>;

  constructor(
    depts: TenantBound<DeptEntity>,
    private readonly username: string,
    private readonly clock: Clock,
    /** Of these departments, the ones that users belong to. */
    readonly findOccupied: (deptIds: readonly number[]) => Promise<number[]>,
  ) {
    this.#depts = depts;
  }

  find(deptId: number): Promise<DeptEntity | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  /** Of these ids, the ones that are departments. */
  findExisting(deptIds: readonly number[]): Promise<number[]> {
    return this.#depts.pluck('deptId', { deptId: In([...deptIds]), ...LIVE });
  }

  /** Of these departments, the ones that have child departments. */
  async findParents(deptIds: readonly number[]): Promise<number[]> {
    return [...new Set(await this.#depts.pluck('parentId', { parentId: In([...deptIds]), ...LIVE }))];
  }

  /** The depth of the deepest department in the subtree of this one. */
  async findDeepest(dept: DeptEntity): Promise<number> {
    return (await this.#depts.maximum('depth', below(dept))) ?? dept.depth;
  }

  async add(fields: DeptFields, place: Place): Promise<number> {
    const audit = { createBy: this.username, createTime: this.clock.now(), updateBy: '', updateTime: null };
    const { deptId } = await this.#depts.insert({ ...fields, ...place, ...LIVE, ...audit });
    if (deptId === undefined) throw new Error('The database gave the new department no id.');
    return deptId;
  }

  async replace(deptId: number, values: DeptFields & Partial<Place>): Promise<void> {
    await this.#depts.update({ deptId, ...LIVE }, { ...values, ...this.#touched() });
  }

  /** Rewrites the paths of all that stands below `dept`, in one statement, for its new place. */
  async moveDescendants(dept: DeptEntity, to: Place): Promise<void> {
    const oldPath = pathBelow(dept);
    await this.#depts.update(
      below(dept),
      { ancestors: () => 'CONCAT(:newPath, SUBSTR(ancestors, :keepFrom))', depth: () => 'depth + :deeper' },
      {
        newPath: pathBelow({ deptId: dept.deptId, ...to }),
        keepFrom: oldPath.length + 1,
        deeper: to.depth - dept.depth,
      },
    );
  }

  async markDeleted(deptIds: readonly number[]): Promise<void> {
    await this.#depts.update({ deptId: In([...deptIds]), ...LIVE }, { delFlag: '2', ...this.#touched() });
  }

  #touched(): Pick<DeptEntity, 'updateBy' | 'updateTime'> {
    return { updateBy: this.username, updateTime: this.clock.now() };
  }
}

/** All live departments below this one: a range of the index on (tenant, path). */
function below(dept: DeptEntity): FindOptionsWhere<DeptEntity> {
  const { from, before } = descendantPaths(dept);
  return { ancestors: And(MoreThanOrEqual(from), LessThan(before)), ...LIVE };
}
