import { In } from 'typeorm';
import { inChunks } from '../database/in-chunks';
import type { UnitOfWork } from '../database/unit-of-work';
import { fillPage, knownKeys, type KeySource, type RowSource } from '../paging/fill-page';
import type { Page } from '../paging/page';
import type { RequestContext } from '../tenancy/request-context';
import type { Key } from '../tenancy/key-range.conditions';
import { TenantBound } from '../tenancy/tenant-bound';
import type { TreeNode } from '../tree/tree-path';
import {
  LIVE,
  isOrdered,
  matching,
  narrowings,
  orderOf,
  parentsAmong,
  twinsBefore,
  withIds,
  youngerTwinsAmong,
  type DeptCriteria,
  type Narrowing,
  type SiblingName,
} from './dept.conditions';
import { DEPT_DETAILS, DEPT_SHOWN, DeptEntity, type DeptRow } from './dept.entity';
import { findFirstBelow } from './dept-heads.repository';
import type { DeptLookup } from './dept-lookup.repository';
import { findNamed } from './dept-named.repository';
import { DeptNames } from './dept-names.repository';

const ORDER = ['orderNum', 'deptId'] as const;
const TREE_ORDER = ['ancestors', 'orderNum', 'deptId'] as const;
/** So many are not worth a thought. */
const FEW = 1000;
/** So many places for each row of a page are walked before the database is asked to sort. */
const SCOUTED = 4;
/** So many places are walked by one statement, from the start of the order. */
const GLANCED = 2000;
/** So many the database sorts for one page. */
const SORTABLE = 20_000;
/** So many ids are fetched and looked up for one page. */
const COLLECTABLE = 5000;

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
   * A part of the departments that match, in the order of `orderNum` and `deptId`. Where one index has both what is
   * looked for and this order, it is read; so is the start of each family, for the first page of a subtree. Otherwise, if
   * any criterion alone leaves few, those are collected; else the order is walked a little, in the hope that matches are
   * frequent; else the database sorts what a criterion leaves, if that is not too much; else the walk goes on, as far as
   * one page may go.
   */
  async findPage(criteria: DeptCriteria, after: Key | null, limit: number): Promise<Page<DeptRow>> {
    const read = (source: KeySource, most?: number) =>
      fillPage(source, this.#rowsOf(criteria), after, limit, most);
    const walk = this.#keysOf(orderOf(criteria));
    if (isOrdered(criteria)) return read(walk);
    const first = after === null ? await this.#findFirst(criteria, limit + 1) : null;
    if (first) {
      const page = await read(knownKeys(first));
      // Otherwise one of them has gone meanwhile, and it is not known what comes after them.
      if (page.hasMore || first.length <= limit) return page;
    }
    const few = await this.#findFew(criteria, FEW, FEW);
    if (few) return read(few);
    const glance = after === null && SCOUTED * limit <= GLANCED;
    const scouted = glance ? await this.#glance(criteria, limit) : await read(walk, SCOUTED * limit);
    if (scouted && (!scouted.hasMore || scouted.rows.length === limit)) return scouted;
    return read((await this.#findFew(criteria, SORTABLE, COLLECTABLE)) ?? walk);
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

  /** The first places, when all that is asked for is what stands below a department. */
  async #findFirst(criteria: DeptCriteria, limit: number): Promise<Key[] | null> {
    const { below: top } = criteria;
    if (!top || !isOrdered({ ...criteria, below: undefined }) || narrowings(criteria).length > 1) return null;
    return this.#unitOfWork.withoutTransaction((manager) => findFirstBelow(manager, this.ctx, top, limit));
  }

  /** The first page, when it is full of what is met in the first places of the order. */
  async #glance(criteria: DeptCriteria, limit: number): Promise<Page<DeptRow> | null> {
    const range = { ...orderOf(criteria), order: ORDER, limit: SCOUTED * limit };
    const rows = await this.#read((depts) =>
      depts.pickAmongFirst(range, matching(criteria), DEPT_SHOWN, limit + 1),
    );
    const last = rows[limit - 1];
    if (rows.length <= limit || !last) return null;
    return { rows: rows.slice(0, limit), hasMore: true, last: [last.orderNum, last.deptId] };
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

  /** The places that match, when the ids, the name or another criterion alone leaves no more than so many. */
  async #findFew(criteria: DeptCriteria, most: number, mostNamed: number): Promise<KeySource | null> {
    const known = criteria.ids ?? (await this.#fewNamed(criteria.name, mostNamed));
    if (known) return knownKeys(await inChunks(known, (chunk) => this.#allKeys(withIds(chunk))));
    for (const { where, index } of narrowings(criteria)) {
      if (await this.#read((depts) => depts.hasMoreThan(most, where))) continue;
      return this.#keysOf({ where: matching(criteria), index });
    }
    return null;
  }

  #keysOf({ where, index }: Narrowing): KeySource {
    return (after, limit) => this.#read((depts) => depts.keys({ where, order: ORDER, after, limit, index }));
  }

  /** The departments whose names hold this text, when it stands in few places. */
  async #fewNamed(text: string | undefined, most: number): Promise<number[] | null> {
    if (text === undefined) return null;
    return this.#unitOfWork.withoutTransaction(async (manager) => {
      const names = new DeptNames(manager, this.ctx);
      return (await names.hasMoreThan(most, text)) ? null : names.find(text);
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
