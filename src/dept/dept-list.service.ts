import { Injectable } from '@nestjs/common';
import { filtersOf, PagedList, type PageView, type Page } from '../database/page';
import { HttpErrors } from '../errors/http.errors';
import { PartErrors } from '../tenancy/access.errors';
import { ManagedPart } from '../tenancy/managed-part';
import { holdsDept } from '../tenancy/data-scope';
import type { RequestContext } from '../tenancy/request-context';
import { ZonedTime } from '../time/zoned-time';
import { TimeSlices } from '../time/time-slices';
import { NOT_A_REQUEST, type Idle } from '../web/work-place';
import { isBelowAny, MAX_DEPTH, type TreeNode } from '../database/tree-path';
import type { DeptCriteria } from './dept.conditions';
import type { DeptDto, DeptNodeDto, DeptRowDto, DeptTreeDto, DeptTreeQuery } from './dept.dto';
import { ancestorIds, ROOT_ID, type TenantryDept, type DeptRow } from './dept.entity';
import { layOut, svgOf } from './chart';
import { DeptErrors, MAX_BOXES } from './dept.errors';
import { toDeptRow, toDeptView, type TellsScope } from './dept.mapper';
import { HadToWait, type DeptReader, type DeptSource, type ListedDept } from './dept-reader.repository';
import { DeptRepository } from './dept.repository';
import { ScopedDepts } from './scoped-depts';
import { DeptAsOf } from './history/dept-as-of';
import type { PastDeptListQuery, PastDeptTreeQuery } from './history/dept-history.dto';

const DEPTS = new PagedList('dept', ['int', 'long']);
const PAST_DEPTS = new PagedList('past-dept', ['long', 'int', 'long']);

/** How many departments one tree holds. */
const MAX_NODES = 5000;
/** Of matches that are read at once. */
const PAGE = 500;
/** A search for rare matches gives up after so many pages that were not full. */
const MAX_SPARSE_PAGES = 8;

const NOT_BELOW = { zh: '不能与 ancestorId 同时使用', en: 'cannot be used together with ancestorId' };
const ONLY_CHILDREN = {
  zh: '与 asOf 一起使用时，必须提供 parentId，且不支持 ancestorId、ids 和 deleted',
  en: 'with asOf, parentId must be sent, and ancestorId, ids and deleted must not',
};
const NO_FILTERS = {
  zh: '不能与 status、deptName 一起使用',
  en: 'cannot be used together with status and deptName',
};

const ONLY_NOW = {
  zh: '不能与 asOf、deleted 一起使用',
  en: 'cannot be used together with asOf and deleted',
};

/** Finding departments, as they are or as they were. */
@Injectable()
export class DeptListService {
  constructor(
    private readonly depts: DeptRepository,
    private readonly asOf: DeptAsOf,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the departments that match, or of deleted ones, ordered by `orderNum` and `deptId`. */
  async list(
    ctx: RequestContext,
    query: PastDeptListQuery,
    idle = NOT_A_REQUEST,
  ): Promise<PageView<DeptRowDto>> {
    const { asOf, ids, parentId, deptName: name, leader, status, deleted, ancestorId } = query;
    if (asOf !== undefined && (parentId === undefined || ancestorId !== undefined || ids || deleted))
      throw HttpErrors.INVALID({ fields: [{ field: 'asOf', message: ONLY_CHILDREN }] });
    // The path of a deleted department tells where it stood when it was deleted: what was above it may have moved since.
    if (deleted && ancestorId !== undefined)
      throw HttpErrors.INVALID({ fields: [{ field: 'deleted', message: NOT_BELOW }] });
    if (deleted && parentId) await refuseOutsidePart(ctx, this.depts.in(ctx), parentId);
    else if (deleted && !ManagedPart.of(ctx).isWhole) throw PartErrors.OUTSIDE_MANAGED({ ids: [ROOT_ID] });
    const scope = await this.#scopeFor(ctx, query, deleted);
    const passes = scope && ((dept: Pick<DeptRow, 'deptId' | 'ancestors'>) => scope.shows(dept));
    const wantedIds = scope?.upperIds.size === 0 ? [] : ids;
    const list = asOf === undefined ? DEPTS : PAST_DEPTS;
    const page = await list.page([ctx.tenantId, filtersOf(query)], query, (after, limit) => {
      const find = async (depts: DeptSource) => {
        const below = ancestorId ? nodeOf(await existing(depts, ancestorId)) : undefined;
        const criteria = { ids: wantedIds, parentId, name, leader, status, below, deleted, passes };
        return depts.findPage(criteria, after, limit);
      };
      // All pages show the version that the first one has found.
      return this.asOf.read(ctx, asOf && (after?.[0] ?? asOf), find, idle);
    });
    const tellsScope = scopeTeller(ctx, query);
    return { ...page, rows: page.rows.map((row) => listed(row, this.time, tellsScope)) };
  }

  /** The tree, or the part below a root, or the departments that match with all their ancestors. */
  async tree(ctx: RequestContext, query: PastDeptTreeQuery, idle = NOT_A_REQUEST): Promise<DeptTreeDto> {
    for (;;) {
      try {
        return await this.#tree(ctx, query, idle);
      } catch (error) {
        if (!(error instanceof HadToWait)) throw error;
      }
    }
  }

  async #tree(ctx: RequestContext, query: PastDeptTreeQuery, idle: Idle): Promise<DeptTreeDto> {
    const { asOf, status, deptName, depth } = query;
    const scope = await this.#scopeFor(ctx, query);
    const tellsScope = scopeTeller(ctx, query);
    const isFiltered = status !== undefined || deptName !== undefined;
    if (!isFiltered && !scope)
      return this.asOf.read(ctx, asOf, (depts) => readTree(depts, query, this.time, tellsScope), idle);
    if (asOf !== undefined) throw HttpErrors.INVALID({ fields: [{ field: 'asOf', message: NO_FILTERS }] });
    const depts = this.depts.in(ctx, idle);
    const root = query.rootId ? await existing(depts, query.rootId) : null;
    const part =
      scope && !isFiltered
        ? await readScope(depts, root, scope, depth)
        : await readMatches(depts, root, query, scope);
    return toTree(depts, root, part, this.time, tellsScope);
  }

  /** The tree as a drawing. */
  async chart(ctx: RequestContext, query: PastDeptTreeQuery, idle = NOT_A_REQUEST): Promise<string> {
    const { rows, truncated } = await this.tree(ctx, query, idle);
    const boxes = layOut(rows, ({ children }) => children);
    if (truncated || boxes.length > MAX_BOXES) throw DeptErrors.CHART_TOO_LARGE();
    return svgOf(boxes, ctx.tenantId);
  }

  /** The data scope that a request for it is limited to; undefined where nothing limits it. */
  async #scopeFor(
    ctx: RequestContext,
    { inScope, asOf }: Pick<PastDeptTreeQuery, 'inScope' | 'asOf'>,
    deleted = false,
  ): Promise<ScopedDepts | undefined> {
    if (!inScope) return undefined;
    if (asOf !== undefined || deleted)
      throw HttpErrors.INVALID({ fields: [{ field: 'inScope', message: ONLY_NOW }] });
    return ctx.dataScope ? ScopedDepts.of(ctx, this.depts.in(ctx)) : undefined;
  }

  /** The departments above one, from the top down. */
  async ancestors(ctx: RequestContext, deptId: number): Promise<DeptDto[]> {
    const depts = this.depts.in(ctx);
    const above = await depts.findMany(ancestorIds(await existing(depts, deptId)));
    return above.sort((a, b) => a.depth - b.depth).map((row) => toDeptView(row, this.time));
  }
}

export async function existing<D>(
  depts: { find(deptId: number): Promise<D | null> },
  deptId: number,
): Promise<D> {
  const dept = await depts.find(deptId);
  if (!dept) throw DeptErrors.NOT_FOUND();
  return dept;
}

/**
 * Refuses what is told of departments to those who manage them, where the caller does not manage this one. A deleted department is
 * where it stood, as its path still tells, if what is managed there lives.
 */
export async function refuseOutsidePart(
  ctx: RequestContext,
  depts: DeptReader,
  deptId: number,
): Promise<void> {
  const part = ManagedPart.of(ctx);
  if (part.isWhole) return;
  const dept = await existing({ find: (id) => depts.findEver(id) }, deptId);
  const live = dept.delFlag === '0' ? part : part.among(await depts.findMany(part.deptIds));
  live.refuseOutside([dept]);
}

function scopeTeller({ dataScope }: RequestContext, { inScope }: Pick<DeptTreeQuery, 'inScope'>): TellsScope {
  return inScope ? (dept) => holdsDept(dataScope, dept) : undefined;
}

export function listed(row: ListedDept, time: ZonedTime, tellsScope?: TellsScope): DeptRowDto {
  return toDeptRow(row, time, Number(row.hasChildren) === 1, tellsScope);
}

function nodeOf({ deptId, ancestors, depth }: DeptRow): TreeNode {
  return { key: deptId, ancestors, depth };
}

async function toTree(
  depts: DeptSource,
  root: DeptRow | null,
  { nodes, truncated, complete }: TreePart,
  time: ZonedTime,
  tellsScope: TellsScope,
): Promise<DeptTreeDto> {
  const parents = complete
    ? new Set(nodes.map(({ parentId }) => parentId))
    : new Set(await depts.findParents(nodes.map(({ deptId }) => deptId)));
  await depts.beginLargeRead?.(nodes.length);
  const rows = await nest(nodes, root?.parentId ?? ROOT_ID, (row) =>
    toDeptRow(row, time, parents.has(row.deptId), tellsScope),
  );
  return { rows, truncated };
}

/**
 * Puts departments under their parents, starting with those right below `topId`; in slices, because there may be 5,000. One that moved
 * while they were read, and was found twice, stands where it was found first: it must not come to stand below itself.
 */
async function nest(
  depts: readonly DeptRow[],
  topId: number,
  view: (dept: DeptRow) => DeptRowDto,
): Promise<DeptNodeDto[]> {
  const slices = new TimeSlices();
  const placed = new Set<number>();
  const nodesBelow = new Map<number, DeptNodeDto[]>();
  const below = (deptId: number): DeptNodeDto[] => {
    const known = nodesBelow.get(deptId) ?? [];
    nodesBelow.set(deptId, known);
    return known;
  };
  for (const dept of depts) {
    if (slices.isOver) await slices.next();
    if (placed.has(dept.deptId)) continue;
    placed.add(dept.deptId);
    below(dept.parentId).push(Object.assign(view(dept), { children: below(dept.deptId) }));
  }
  // Nearly always in order already.
  for (const nodes of nodesBelow.values()) {
    if (slices.isOver) await slices.next();
    nodes.sort((a, b) => a.orderNum - b.orderNum || a.deptId - b.deptId);
  }
  return below(topId);
}

/** A part of a tree: with every department all of its ancestors up to the root. */
interface TreePart {
  readonly nodes: DeptRow[];
  readonly truncated: boolean;
  /** Whether every child of every node is here as well. */
  readonly complete: boolean;
}

/** Reads the tree, or the part below a root, the root included. */
export async function readTree(
  depts: DeptSource,
  { rootId, depth }: Pick<DeptTreeQuery, 'rootId' | 'depth'>,
  time: ZonedTime,
  tellsScope?: TellsScope,
): Promise<DeptTreeDto> {
  const root = rootId ? await existing(depts, rootId) : null;
  const below =
    depth === undefined ? await depts.findBelow?.(root && nodeOf(root), MAX_NODES + 1) : undefined;
  const nodes = below && (root ? [root, ...below] : below);
  // Beyond the limit the upper levels matter more than what comes first in the index.
  const part =
    nodes && nodes.length <= MAX_NODES
      ? { nodes, truncated: false, complete: true }
      : await readLevels(depts, root, depth ?? MAX_DEPTH);
  return toTree(depts, root, part, time, tellsScope);
}

/** Level by level, so that the deepest ones are left out. */
async function readLevels(depts: DeptSource, root: DeptRow | null, levels: number): Promise<TreePart> {
  const nodes: DeptRow[] = [];
  let level: DeptRow[] = root ? [root] : await depts.findChildren([ROOT_ID], MAX_NODES + 1);
  for (let depth = 1; level.length > 0; depth += 1) {
    nodes.push(...level);
    if (nodes.length > MAX_NODES)
      return { nodes: nodes.slice(0, MAX_NODES), truncated: true, complete: false };
    if (depth === levels) break;
    const parents = level.map(({ deptId }) => deptId);
    level = await depts.findChildren(parents, MAX_NODES + 1 - nodes.length);
  }
  return { nodes, truncated: false, complete: level.length === 0 };
}

/** The part of the tree that is in a data scope, with all above it, level by level. */
async function readScope(
  depts: DeptReader,
  root: TenantryDept | null,
  scope: ScopedDepts,
  levels = MAX_DEPTH,
): Promise<TreePart> {
  const isBelowRoot = (dept: DeptRow) =>
    !root || dept.deptId === root.deptId || isBelowAny(dept, [root.deptId]);
  const upper = (await depts.findMany([...scope.upperIds])).filter(isBelowRoot);
  if (root && scope.isOpen(root) && !scope.upperIds.has(root.deptId)) upper.push(root);
  const nodes: DeptRow[] = [];
  const top = root?.depth ?? 1;
  for (let [depth, level] = [top, [] as DeptRow[]]; depth < top + levels; depth += 1) {
    const open = level.filter((dept) => scope.isOpen(dept)).map(({ deptId }) => deptId);
    const below = open.length > 0 ? await depts.findChildren(open, MAX_NODES + 1 - nodes.length) : [];
    const known = new Set(below.map(({ deptId }) => deptId));
    level = [...below, ...upper.filter((dept) => dept.depth === depth && !known.has(dept.deptId))];
    if (level.length === 0) break;
    nodes.push(...level);
    if (nodes.length > MAX_NODES)
      return { nodes: nodes.slice(0, MAX_NODES), truncated: true, complete: false };
  }
  return { nodes, truncated: false, complete: false };
}

async function readMatches(
  depts: DeptReader,
  root: TenantryDept | null,
  { depth, status, deptName: name }: DeptTreeQuery,
  scope: ScopedDepts | undefined,
): Promise<TreePart> {
  const isHeld = scope && ((dept: Pick<DeptRow, 'deptId' | 'ancestors'>) => scope.holds(dept));
  const passes = (dept: DeptRow): boolean =>
    dept.status === (status ?? dept.status) && dept.deptName.includes(name ?? '') && isHeld?.(dept) !== false;
  // A few complete levels need no search.
  const levels = scope
    ? await readScope(depts, root, scope, depth)
    : depth === undefined
      ? null
      : await readLevels(depts, root, depth);
  if (levels && !levels.truncated) return withAncestors(depts, root, levels.nodes.filter(passes), false);
  const maxDepth = depth === undefined ? undefined : (root?.depth ?? 1) + depth - 1;
  const matches = root && passes(root) ? [root as DeptRow] : [];
  const criteria = { below: root ?? undefined, status, name, maxDepth, passes: isHeld };
  const truncated = await findMatches(depts, criteria, matches);
  return withAncestors(depts, root, matches, truncated);
}

/** Adds to `matches` page by page; gives whether there may be more. */
async function findMatches(depts: DeptReader, criteria: DeptCriteria, matches: DeptRow[]): Promise<boolean> {
  const limit = MAX_NODES + matches.length;
  let after: Page<DeptRow>['last'] = null;
  for (let sparse = 0; sparse < MAX_SPARSE_PAGES && matches.length < limit;) {
    const most = Math.min(PAGE, limit - matches.length);
    const found: Page<DeptRow> = await depts.findPage(criteria, after, most);
    matches.push(...found.rows);
    if (!found.hasMore) return false;
    if (found.rows.length < most) sparse += 1;
    after = found.last;
    await depts.beginLargeRead(matches.length);
  }
  return true;
}

async function withAncestors(
  depts: DeptReader,
  root: TenantryDept | null,
  matches: readonly DeptRow[],
  isIncomplete: boolean,
): Promise<TreePart> {
  const known = new Map<number, DeptRow>(
    [...(root ? [root] : []), ...matches].map((dept) => [dept.deptId, dept]),
  );
  const kept = new Set<number>(root && matches.length > 0 ? [root.deptId] : []);
  let truncated = isIncomplete;
  for (const match of matches) {
    const chain = [...ancestorIds(match).slice(root?.depth ?? 0), match.deptId].filter((id) => !kept.has(id));
    if (kept.size + chain.length > MAX_NODES) truncated = true;
    else for (const id of chain) kept.add(id);
  }
  const missing = await depts.findMany([...kept].filter((id) => !known.has(id)));
  const nodes = [...[...known.values()].filter(({ deptId }) => kept.has(deptId)), ...missing];
  return { nodes, truncated, complete: false };
}
