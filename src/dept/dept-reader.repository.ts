import { In } from 'typeorm';
import { inChunks } from '../database/in-chunks';
import type { UnitOfWork } from '../database/unit-of-work';
import { fillPage, knownKeys, type KeySource, type RowSource, type Page } from '../web/page';
import type { RequestContext } from '../tenancy/request-context';
import type { Key } from '../database/key-range';
import { TenantBound } from '../tenancy/tenant-bound';
import type { TreeNode } from '../tree/tree-path';
import {
  LIVE,
  matching,
  orderedRanges,
  parentsAmong,
  twinsBefore,
  withIds,
  youngerTwinsAmong,
  type DeptCriteria,
  type IndexRange,
  type SiblingName,
} from './dept.conditions';
import { DEPT_DETAILS, DEPT_SHOWN, DeptEntity, type DeptRow } from './dept.entity';
import type { DeptLookup } from './dept-lookup.repository';
import { findNamed } from './dept-named.repository';

const ORDER = ['orderNum', 'deptId'] as const;
const TREE_ORDER = ['ancestors', 'orderNum', 'deptId'] as const;
/** The database sorts a subtree of up to so many departments; in a larger one, matches are frequent in the order of lists. */
const MAX_SORTED = 20_000;
/** Of several filters with an index, the first that leaves no more than so many is walked. */
const MAX_NARROW = 2000;

const IN_FILES = ['deptId', 'parentId', 'ancestors', 'deptName', ...DEPT_DETAILS] as const;

/** As much of a department as goes into a file. */
export type FileDept = Pick<DeptEntity, (typeof IN_FILES)[number]>;

/** A place in the order of the tree: after all with these ancestors, or after one department among them. */
export type TreePlace = readonly [ancestors: string] | readonly [string, orderNum: number, deptId: number];

/** Departments as one tenant reads them, outside any unit of work. */
export class DeptReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly lookup: DeptLookup,
    private readonly ctx: RequestContext,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  find(deptId: number): Promise<DeptEntity | null> {
    return this.lookup.find(this.ctx, deptId);
  }

  findMany(deptIds: readonly number[]): Promise<DeptRow[]> {
    return inChunks(deptIds, (chunk) => this.#read((depts) => depts.pick(withIds(chunk), DEPT_SHOWN)));
  }

  /** Of these departments, the ones that have child departments. */
  findParents(deptIds: readonly number[]): Promise<number[]> {
    return inChunks(deptIds, (chunk) =>
      this.#read((depts) => depts.distinctIds('deptId', parentsAmong(chunk, this.ctx.tenantId))),
    );
  }

  /** Children of these departments, at most so many. */
  findChildren(parentIds: readonly number[], limit: number): Promise<DeptRow[]> {
    return inChunks(
      parentIds,
      (chunk, sofar) => {
        const where = { ...LIVE, parentId: In([...chunk]) };
        return this.#read((depts) => depts.pick(where, DEPT_SHOWN, { limit: limit - sofar }));
      },
      limit,
    );
  }

  /** All below a department, or all; at most so many. */
  findBelow(top: TreeNode | null, limit: number): Promise<DeptRow[]> {
    return this.#read((depts) => depts.pick(matching({ below: top ?? undefined }), DEPT_SHOWN, { limit }));
  }

  /**
   * A part of the departments that match, in the order of `orderNum` and `deptId`: one index in this order is walked, and the
   * other filters are applied to the rows at its places. How far one page walks is bounded.
   */
  async findPage(criteria: DeptCriteria, after: Key | null, limit: number): Promise<Page<DeptRow>> {
    return fillPage(await this.#keySource(criteria), this.#rowsOf(criteria), after, limit);
  }

  /** What a file says of the whole tree, parents before their children: so many departments after a place. */
  findNextLines(after: TreePlace | null, limit: number): Promise<FileDept[]> {
    const range = { where: LIVE, order: TREE_ORDER, after, limit, index: 'ix_dept_subtree' };
    return this.#read((depts) => depts.pickNext(range, IN_FILES));
  }

  /** What a file says of these departments. */
  findLines(deptIds: readonly number[]): Promise<FileDept[]> {
    return inChunks(deptIds, (chunk) =>
      this.#read((depts) => depts.pick(withIds(chunk), IN_FILES, { index: 'PRIMARY' })),
    );
  }

  /** Of these departments, the ones that have an elder sibling of the same name. */
  findYoungerTwins(deptIds: readonly number[]): Promise<number[]> {
    return inChunks(deptIds, (chunk) =>
      this.#read((depts) => depts.distinctIds('deptId', youngerTwinsAmong(chunk, this.ctx.tenantId))),
    );
  }

  /** The children of a department that are not alone with their name. */
  async findTwins(parentId: number): Promise<Pick<DeptEntity, 'deptId' | 'deptName'>[]> {
    const siblings = { ...LIVE, parentId };
    const names = await this.#read((depts) => depts.repeatedTexts('deptName', siblings));
    return inChunks(names, (chunk) =>
      this.#read((depts) =>
        depts.pick({ ...siblings, deptName: In([...chunk]) }, ['deptId', 'deptName'], {
          index: 'ix_dept_sibling',
        }),
      ),
    );
  }

  /** How many siblings of the same name were made before this department. */
  countTwinsBefore(dept: FileDept): Promise<number> {
    return this.#read((depts) => depts.count(twinsBefore(dept)));
  }

  /** The departments with these parents and names. */
  findNamed(names: readonly SiblingName[]): Promise<DeptEntity[]> {
    return this.#read((depts) => findNamed(depts, names));
  }

  #rowsOf(criteria: DeptCriteria): RowSource<DeptRow> {
    const where = matching(criteria);
    return {
      at: (keys) => {
        const deptId = In(keys.map((key) => Number(key.at(-1))));
        return this.#read((depts) => depts.pick({ ...where, deptId }, DEPT_SHOWN, { index: 'PRIMARY' }));
      },
      idOf: ({ deptId }) => deptId,
    };
  }

  async #keySource(criteria: DeptCriteria): Promise<KeySource> {
    const { ids, below: top, parentId, leader } = criteria;
    if (ids) return knownKeys(await inChunks(ids, (chunk) => this.#allKeys(withIds(chunk))));
    const isSubtree = top && parentId === undefined && leader === undefined;
    if (isSubtree && !(await this.#read((depts) => depts.hasMoreThan(MAX_SORTED, matching({ below: top })))))
      return this.#keysOf({ where: matching(criteria), index: 'ix_dept_subtree' });
    return this.#keysOf(await this.#narrowest(orderedRanges(criteria)));
  }

  /** The first range that is narrow; asked for only where there is a choice. */
  async #narrowest([first, ...others]: readonly [IndexRange, ...IndexRange[]]): Promise<IndexRange> {
    for (const range of others.length > 0 ? [first, ...others] : []) {
      if (!(await this.#read((depts) => depts.hasMoreThan(MAX_NARROW, range.where)))) return range;
    }
    return first;
  }

  #keysOf({ where, index }: IndexRange): KeySource {
    return (after, limit) => this.#read((depts) => depts.keys({ where, order: ORDER, after, limit, index }));
  }

  #allKeys(where: ReturnType<typeof matching>): Promise<Key[]> {
    return this.#read((depts) => depts.keysOf(where, ORDER));
  }

  #read<T>(work: (depts: TenantBound<DeptEntity>) => Promise<T>): Promise<T> {
    return this.#unitOfWork.withoutTransaction((manager) =>
      work(new TenantBound(manager, DeptEntity, this.ctx)),
    );
  }
}
