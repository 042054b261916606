import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { In } from 'typeorm';
import { FairQueue } from '../concurrency/fair-queue';
import { chunksOf, inChunks } from '../database/in-chunks';
import type { FindOptions, Key, Order } from '../database/scoped-table';
import type { UnitOfWork } from '../database/unit-of-work';
import { cutPage, fillPage, type KeySource, type Page } from '../database/page';
import { HttpErrors } from '../errors/http.errors';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import type { TreeNode } from '../database/tree-path';
import type { Idle } from '../web/work-place';
import {
  BY_ID,
  HAS_CHILDREN,
  LIVE,
  matching,
  namedSiblings,
  numberedAmong,
  orderedRange,
  parentsAmong,
  sameNamedBefore,
  withIds,
  type DeptCriteria,
  type IndexRange,
  type SiblingName,
  type Where,
} from './dept.conditions';
import { DEPT_FIELDS, DEPT_SHOWN, TenantryDept, type DeptRow } from './dept.entity';

const ORDER_COLUMNS = ['orderNum', 'deptId'] as const;
const ORDER = { orderNum: 'ASC', deptId: 'ASC' } as const;
const TREE_ORDER = { ancestors: 'ASC', ...ORDER } as const;
const CHILD_ORDER = { parentId: 'ASC', ...ORDER } as const;
const SUBTREE = 'ix_dept_subtree';
const IN_SUBTREE = ['ancestors', 'orderNum', 'deptId'] as const;
/** Drivers turn the rows of one answer into objects in one go, and requests of others wait for it. */
const PAGE = 250;
const NAMED = ['deptId', 'deptName'] as const;
const IN_FILES = ['deptId', 'parentId', 'ancestors', ...DEPT_FIELDS] as const;
/** The database sorts a subtree of at most so many departments. A larger one has matches often enough in the order of lists. */
const MAX_SORTED = 20_000;
/** With more names in one statement, databases no longer use the index. */
const NAMES_PER_STATEMENT = 100;

/** A department of a list; 0 or 1 is what every database has. MySQL computes it as a BIGINT, which comes as text. */
export type ListedDept = DeptRow & { readonly hasChildren: number | string };

export type FileDept = Pick<TenantryDept, (typeof IN_FILES)[number]>;

/**
 * What is large is read one after the other in a process, by turns of top-level tenants: the event loop and the database stay free
 * for requests of others.
 */
export class LargeReads {
  /** Of requests, until their answers are made. Trees that were made side by side would all be ready at the end. */
  readonly trees = new FairQueue({ inWork: 1, waiting: 128, waitMs: 10_000, share: 1 });
  /** Of the tree whose turn it is, and of whatever else has many pages. */
  readonly pages = new FairQueue({ inWork: 1, waiting: Infinity, share: 1 });
}

/** What lists, trees and single departments are read from: the departments of one tenant, as they are or as they were. */
export interface DeptSource {
  /** As it was, a department has no revision: it cannot be changed. */
  find(deptId: number): Promise<(DeptRow & { readonly revision?: number }) | null>;
  findPage(criteria: DeptCriteria, after: Key | null, limit: number): Promise<Page<ListedDept>>;
  findChildren(parentIds: readonly number[], limit: number): Promise<DeptRow[]>;
  /** Of these departments, the ones that have child departments. */
  findParents(deptIds: readonly number[]): Promise<number[]>;
  /** All below a department, or below the top level, where they can be found in one go. */
  findBelow?(top: TreeNode | null, limit: number): Promise<DeptRow[]>;
  /**
   * Where so many rows are many: takes a turn, in which the rest of the request is done. While it waits, it holds no other place of
   * work. Fails with `HadToWait` after a wait.
   */
  beginLargeRead?(rows: number): Promise<void>;
}

/** A read had to wait in its midst. Others may have written meanwhile, so it must begin anew; it has its turn now. */
export class HadToWait extends Error {}

/** The departments of one tenant as they are, read outside of any transaction. */
export class DeptReader implements DeptSource {
  readonly tenantId: string;
  readonly #depts: TenantBound<TenantryDept>;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly ctx: RequestContext,
    private readonly largeReads: LargeReads,
    private readonly idle: Idle,
  ) {
    this.tenantId = ctx.tenantId;
    this.#depts = new TenantBound(unitOfWork, TenantryDept, ctx);
  }

  find(deptId: number): Promise<TenantryDept | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  findMany(deptIds: readonly number[]): Promise<DeptRow[]> {
    return inChunks(deptIds, (chunk) => this.#depts.pick(withIds(chunk), DEPT_SHOWN, BY_ID));
  }

  findParents(deptIds: readonly number[]): Promise<number[]> {
    return this.#idsAmong(deptIds, parentsAmong);
  }

  /** A department, deleted or not. */
  findEver(deptId: number): Promise<TenantryDept | null> {
    return this.#depts.findOne({ deptId });
  }

  /** Whether there is such a department, deleted or not. */
  everHad(deptId: number): Promise<boolean> {
    return this.#depts.exists({ deptId });
  }

  async findChildren(parentIds: readonly number[], limit: number): Promise<DeptRow[]> {
    const found: DeptRow[] = [];
    for (const chunk of chunksOf(parentIds))
      found.push(...(await this.#allOf(this.#childPages(chunk, limit - found.length))));
    return found;
  }

  findBelow(top: TreeNode | null, limit: number): Promise<DeptRow[]> {
    const options = { order: TREE_ORDER, index: SUBTREE, limit };
    return this.#allOf(this.#pages(DEPT_SHOWN, matching({ below: top ?? undefined }), options));
  }

  /** Of all below a department, or below the top level. */
  async findIdsBelow(top: TreeNode | null): Promise<number[]> {
    const found: number[] = [];
    const options = { order: TREE_ORDER, index: SUBTREE, limit: Infinity };
    // Large pages: the index has all of these columns.
    const pages = this.#pages(IN_SUBTREE, matching({ below: top ?? undefined }), options, 5000);
    for await (const page of pages) for (const { deptId } of page) found.push(deptId);
    return found;
  }

  /** The children of these departments, page by page. */
  async *childrenOf(parentIds: readonly number[], limit = Infinity): AsyncGenerator<DeptRow[]> {
    for (const chunk of chunksOf(parentIds)) yield* this.#childPages(chunk, limit);
  }

  #childPages(parentIds: readonly number[], limit: number): AsyncGenerator<DeptRow[]> {
    const options = { order: CHILD_ORDER, index: 'ix_dept_children', limit };
    return this.#pages(DEPT_SHOWN, { ...LIVE, parentId: In(parentIds) }, options);
  }

  async *#pages<C extends keyof DeptRow>(
    columns: readonly C[],
    where: Where,
    { order, index, limit }: Required<Pick<FindOptions<TenantryDept>, 'order' | 'index' | 'limit'>>,
    size = PAGE,
  ): AsyncGenerator<Pick<TenantryDept, C>[]> {
    for (let after: Key | null = null, left = limit; left > 0;) {
      const most = Math.min(size, left);
      const page: Pick<TenantryDept, C>[] = await this.#page(where, columns, {
        order,
        index,
        after,
        limit: most,
      });
      left = page.length === most ? left - most : 0;
      after = keyOf(page.at(-1), order);
      yield page;
    }
  }

  /** One of the pages of a large read. The first one may be all, and waits for none. */
  #page<C extends keyof DeptRow>(
    where: Where,
    columns: readonly C[],
    options: FindOptions<TenantryDept>,
  ): Promise<Pick<TenantryDept, C>[]> {
    const read = () => this.#depts.pick(where, columns, options);
    // Others may wait for a transaction, so it does not wait for them.
    if (!options.after || this.ctx.unit) return read();
    return this.largeReads.pages.run(this.ctx.topTenantId, read, HttpErrors.OVERLOADED);
  }

  async beginLargeRead(rows: number): Promise<void> {
    const { largeReads, idle, ctx } = this;
    if (rows >= PAGE && (await idle.moveTo(largeReads.trees, ctx.topTenantId))) throw new HadToWait();
  }

  /** All rows of these pages. */
  async #allOf(pages: AsyncGenerator<DeptRow[]>): Promise<DeptRow[]> {
    const found: DeptRow[] = [];
    for await (const page of pages) {
      found.push(...page);
      await this.beginLargeRead(found.length);
    }
    return found;
  }

  /**
   * A page of the departments that match, ordered by `orderNum` and `deptId`: one index in this order is walked, and the
   * other filters are applied to its rows. How far one page walks is bounded.
   */
  async findPage(criteria: DeptCriteria, after: Key | null, limit: number): Promise<Page<ListedDept>> {
    const where = matching(criteria);
    const find = (found: Where, options: FindOptions<TenantryDept>): Promise<ListedDept[]> =>
      this.#depts.pickWith(found, DEPT_SHOWN, `${HAS_CHILDREN} AS "hasChildren"`, options);
    const range = await this.#rangeOf(criteria);
    const { passes } = criteria;
    if (!passes && range && Object.keys(range.where).length === Object.keys(where).length) {
      const rows = await find(where, { order: ORDER, after, limit: limit + 1, index: range.index });
      return cutPage(rows, limit, ({ orderNum, deptId }) => [orderNum, deptId]);
    }
    const passed = new Set<number>();
    const at = async (keys: readonly Key[]): Promise<ListedDept[]> => {
      const ids = keys.map((key) => Number(key.at(-1))).filter((deptId) => !passes || passed.has(deptId));
      return ids.length > 0 ? find({ ...where, deptId: In(ids) }, BY_ID) : [];
    };
    const keys = this.#keysIn(
      range ?? { where, index: SUBTREE },
      passes ? IN_SUBTREE : ORDER_COLUMNS,
      (dept) => {
        if (passes?.(dept)) passed.add(dept.deptId);
      },
    );
    return fillPage(keys, { at, idOf: ({ deptId }) => deptId }, after, limit);
  }

  findNamed(names: readonly SiblingName[]): Promise<TenantryDept[]> {
    return findNamed(this.#depts, names);
  }

  /** The departments of the whole tree after one of them, parents before their children. */
  findNextForFile(last: FileDept | undefined, limit: number): Promise<FileDept[]> {
    const options = { order: TREE_ORDER, after: keyOf(last, TREE_ORDER), limit, index: SUBTREE };
    return this.#page(LIVE, IN_FILES, options);
  }

  findForFile(deptIds: readonly number[]): Promise<FileDept[]> {
    return inChunks(deptIds, (chunk) => this.#depts.pick(withIds(chunk), IN_FILES, BY_ID));
  }

  findNumbered(deptIds: readonly number[]): Promise<number[]> {
    return this.#idsAmong(deptIds, numberedAmong);
  }

  countSameNamedBefore(dept: FileDept): Promise<number> {
    return this.#depts.count(sameNamedBefore(dept));
  }

  /** The children of a department that share their name with a sibling. */
  async findSameNamed(parentId: number): Promise<Pick<TenantryDept, 'deptId' | 'deptName'>[]> {
    const siblings = { ...LIVE, parentId };
    const names = await this.#depts.repeatedTexts('deptName', siblings);
    return inChunks(names, (chunk) => {
      const where = { ...siblings, deptName: In([...chunk]) };
      return this.#depts.pick(where, NAMED, { index: 'ix_dept_sibling' });
    });
  }

  /** The index by which these departments are found: in their order, or by ids, which are few. Null for a subtree to sort. */
  async #rangeOf(criteria: DeptCriteria): Promise<IndexRange | null> {
    const { ids, below, parentId, leader } = criteria;
    if (ids) return { where: matching(criteria), ...BY_ID };
    const isSubtree = below && parentId === undefined && leader === undefined;
    const isLarge = () => this.#depts.hasMoreThan(MAX_SORTED, matching({ below }));
    return isSubtree && !(await isLarge()) ? null : orderedRange(criteria);
  }

  #keysIn(
    { where, index }: IndexRange,
    columns: typeof IN_SUBTREE | typeof ORDER_COLUMNS,
    look: (dept: Pick<TenantryDept, (typeof IN_SUBTREE)[number]>) => void,
  ): KeySource {
    return async (after, limit) => {
      const options = { order: ORDER, after, limit, index };
      const rows = await this.#depts.pick<(typeof IN_SUBTREE)[number]>(where, columns, options);
      rows.forEach(look);
      return rows.map(({ orderNum, deptId }) => [orderNum, deptId]);
    };
  }

  #idsAmong(
    deptIds: readonly number[],
    condition: (deptIds: readonly number[], tenantId: string) => Where,
  ): Promise<number[]> {
    return inChunks(deptIds, (chunk) =>
      this.#depts.distinctIds('deptId', condition(chunk, this.tenantId), BY_ID),
    );
  }
}

function keyOf(row: object | undefined, order: Order<TenantryDept>): Key | null {
  const values = row as Readonly<Record<string, string | number>> | undefined;
  return values ? Object.keys(order).map((column) => values[column] ?? '') : null;
}

/** Finds the departments with these parents and names, which must all differ. */
export async function findNamed(
  depts: TenantBound<TenantryDept>,
  names: readonly SiblingName[],
): Promise<TenantryDept[]> {
  const found: TenantryDept[] = [];
  for (let at = 0; at < names.length; at += NAMES_PER_STATEMENT) {
    const some = names.slice(at, at + NAMES_PER_STATEMENT);
    found.push(...(await depts.find(namedSiblings(some, depts.findsByRowValues))));
    await yieldToEventLoop();
  }
  return found;
}
