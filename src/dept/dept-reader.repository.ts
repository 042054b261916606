import { In } from 'typeorm';
import { inChunks } from '../database/in-chunks';
import type { UnitOfWork } from '../database/unit-of-work';
import { fillPage, knownKeys, type KeySource } from '../paging/fill-page';
import type { Page } from '../paging/page';
import type { RequestContext } from '../tenancy/request-context';
import type { Key } from '../tenancy/scoped-table';
import { TenantBound } from '../tenancy/tenant-bound';
import type { TreeNode } from '../tree/tree-path';
import {
  LIVE,
  matching,
  orderedBy,
  parentsAmong,
  twinsAmong,
  twinsBefore,
  withIds,
  type DeptCriteria,
  type SiblingName,
} from './dept.conditions';
import { DeptEntity } from './dept.entity';
import { findNamed } from './dept-named.repository';
import { DeptNames } from './dept-names.repository';

const ORDER = ['orderNum', 'deptId'] as const;
/** Up to so many matches are collected and sorted; beyond, the order's index is walked until enough of them came by. */
const FEW = 2000;

/** Departments as one tenant reads them, outside any unit of work. */
export class DeptReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly ctx: RequestContext,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  find(deptId: number): Promise<DeptEntity | null> {
    return this.#read((depts) => depts.findOne({ deptId, ...LIVE }));
  }

  findMany(deptIds: readonly number[]): Promise<DeptEntity[]> {
    return inChunks(deptIds, (chunk) => this.#read((depts) => depts.find(withIds(chunk))));
  }

  /** Of these departments, the ones that have child departments. */
  findParents(deptIds: readonly number[]): Promise<number[]> {
    return inChunks(deptIds, (chunk) =>
      this.#read((depts) => depts.distinctIds('deptId', parentsAmong(chunk, this.ctx.tenantId))),
    );
  }

  /** Children of these departments, at most so many. */
  findChildren(parentIds: readonly number[], limit: number): Promise<DeptEntity[]> {
    return inChunks(
      parentIds,
      (chunk, sofar) =>
        this.#read((depts) => depts.find({ ...LIVE, parentId: In([...chunk]) }, limit - sofar)),
      limit,
    );
  }

  /** All below a department, or all; at most so many. */
  findBelow(top: TreeNode | null, limit: number): Promise<DeptEntity[]> {
    return this.#read((depts) => depts.find(matching({ below: top ?? undefined }), limit));
  }

  /** A part of the departments that match, in the order of `orderNum` and `deptId`. */
  async findPage(criteria: DeptCriteria, after: Key | null, limit: number): Promise<Page<DeptEntity>> {
    const where = matching(criteria);
    const rows = {
      at: (keys: readonly Key[]) =>
        this.#read((depts) => depts.find({ ...where, deptId: In(keys.map((key) => Number(key.at(-1)))) })),
      idOf: ({ deptId }: DeptEntity) => deptId,
    };
    return fillPage(await this.#keySource(criteria), rows, after, limit);
  }

  /** Places of the whole tree, parents before their children. */
  findTreeKeys(after: Key | null, limit: number): Promise<Key[]> {
    const order = ['ancestors', 'orderNum', 'deptId'] as const;
    return this.#read((depts) => depts.keys({ where: LIVE, order, after, limit }));
  }

  /** Of these departments, the ones that have a sibling of the same name. */
  findTwins(deptIds: readonly number[]): Promise<number[]> {
    return inChunks(deptIds, (chunk) =>
      this.#read((depts) =>
        depts.distinctIds('deptId', twinsAmong(chunk, this.ctx.tenantId, depts.isOnSqlite)),
      ),
    );
  }

  /** How many siblings of the same name come before this department. */
  countTwinsBefore(dept: DeptEntity): Promise<number> {
    return this.#read((depts) => depts.count(twinsBefore(dept)));
  }

  /** The departments with these parents and names. */
  findNamed(names: readonly SiblingName[]): Promise<DeptEntity[]> {
    return this.#read((depts) => findNamed(depts, names));
  }

  async #keySource(criteria: DeptCriteria): Promise<KeySource> {
    const ids = criteria.ids ?? (await this.#fewNamed(criteria.name));
    if (ids) return knownKeys(await inChunks(ids, (chunk) => this.#allKeys(withIds(chunk))));
    const top = criteria.below && matching({ below: criteria.below });
    if (top && !(await this.#read((depts) => depts.hasMoreThan(FEW, top)))) {
      return knownKeys(await this.#allKeys(top));
    }
    const where = orderedBy(criteria);
    return (after, limit) => this.#read((depts) => depts.keys({ where, order: ORDER, after, limit }));
  }

  /** The departments whose names hold this text, when they are few. */
  async #fewNamed(text: string | undefined): Promise<number[] | null> {
    if (text === undefined) return null;
    return this.#unitOfWork.withoutTransaction(async (manager) => {
      const names = new DeptNames(manager, this.ctx);
      return (await names.hasMoreThan(FEW, text)) ? null : names.find(text);
    });
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
