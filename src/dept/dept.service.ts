import { Injectable } from '@nestjs/common';
import type { IdempotentRequest } from '../database/idempotent-request';
import { mergePatch, pick, withDefaults } from '../resource/fields';
import { HistoryErrors, HttpErrors } from '../errors/http.errors';
import type { Refusal } from '../errors/refusal';
import { refuseOneTagForMany, refuseStale, type Expected } from '../database/revision';
import type { RequestContext } from '../tenancy/request-context';
import { refuseForeignTenant } from '../tenancy/tenant-access';
import { ZonedTime } from '../time/zoned-time';
import { NOT_A_REQUEST } from '../web/work-place';
import { isWithin, MAX_DEPTH, placeUnder, TOP_LEVEL } from '../database/tree-path';
import type { CreateDeptDto, DeleteDeptsQuery, DeptDto, OrderDeptsDto, UpdateDeptDto } from './dept.dto';
import { DEPT_DEFAULTS, DEPT_FIELDS, ROOT_ID, type TenantryDept } from './dept.entity';
import { DeptErrors, MAX_SUBTREE } from './dept.errors';
import { DeptAsOf, type Moment } from './history/dept-as-of';
import type { RestoreDeptDto } from './history/dept-history.dto';
import { toDeptDto } from './dept.mapper';
import { existing } from './dept-list.service';
import type { DeptSource } from './dept-reader.repository';
import { DeptRepository } from './dept.repository';
import type { DeptPlace, LockedDeptTree } from './locked-dept-tree';

const ONLY_ONE = {
  zh: '只能用于单个部门',
  en: 'can be used for one department only',
};

/** The rules of the department tree. */
@Injectable()
export class DeptService {
  constructor(
    private readonly depts: DeptRepository,
    private readonly asOf: DeptAsOf,
    private readonly time: ZonedTime,
  ) {}

  /** A department as it is, or as it was at a version or a time. */
  get(ctx: RequestContext, deptId: number, asOf?: Moment, idle = NOT_A_REQUEST): Promise<DeptDto> {
    const show = async (depts: DeptSource) => toDeptDto(await existing(depts, deptId), this.time);
    return this.asOf.read(ctx, asOf, show, idle);
  }

  /**
   * The ids of a department and of all below it, itself first: what a data scope "this department and below" holds. Of more than
   * 5,000 they come from several statements, which are of one moment inside a transaction.
   */
  async idsBelow(ctx: RequestContext, deptId: number): Promise<number[]> {
    const depts = this.depts.in(ctx);
    return [deptId, ...(await depts.findIdsBelow(await existing(depts, deptId)))];
  }

  async create(ctx: RequestContext, dto: CreateDeptDto, once?: IdempotentRequest): Promise<number> {
    refuseForeignTenant(ctx, dto.tenantId);
    const create = async (tree: LockedDeptTree): Promise<number> => {
      const place = await placeFor(tree, dto.parentId ?? ROOT_ID);
      if (place.depth > MAX_DEPTH) throw DeptErrors.TOO_DEEP();
      return tree.add(withDefaults(dto, DEPT_DEFAULTS), place);
    };
    return this.depts.transaction(ctx, create, once);
  }

  /** Replaces a department; with another `parentId` it moves there, with all that stands below it. Gives its new revision. */
  update(ctx: RequestContext, dto: UpdateDeptDto, expected?: Expected): Promise<number> {
    return this.#change(ctx, dto.deptId, dto, expected, () => dto);
  }

  /** Changes what the patch names, and resets what it sets to null; otherwise as `update` does. */
  patch(ctx: RequestContext, deptId: number, patch: CreateDeptDto, expected?: Expected): Promise<number> {
    return this.#change(ctx, deptId, patch, expected, (dept) => mergePatch(pick(dept, DEPT_FIELDS), patch));
  }

  /** Deletes all of these departments, or none; with `subtree` a single one with all below it. */
  async delete(
    ctx: RequestContext,
    deptIds: readonly number[],
    expected?: Expected,
    { subtree = false }: DeleteDeptsQuery = {},
  ): Promise<void> {
    const ids = [...new Set(deptIds)];
    refuseOneTagForMany(ids, expected);
    if (subtree && ids.length > 1)
      throw HttpErrors.INVALID({ fields: [{ field: 'subtree', message: ONLY_ONE }] });
    await this.depts.transaction(ctx, async (tree) => {
      const { depts, parentIds } = await tree.findWithParents(ids);
      refuseMissing(depts, ids);
      tree.part.refuseNotBelow(depts);
      for (const dept of depts) refuseStale(dept, expected);
      const [top = null] = subtree ? depts : [];
      if (!top && parentIds.length > 0) throw DeptErrors.HAS_CHILDREN({ ids: parentIds });
      // Children before their parents, for those who keep a copy with foreign keys.
      const all = top ? (await findSubtree(tree, top)).reverse() : depts;
      await refuseOccupied(tree, all);
      await tree.markDeleted(all, top);
    });
  }

  /**
   * Makes a deleted department live again, under the parent that it had or another one; with all below it that was deleted
   * together with it.
   */
  async restore(
    ctx: RequestContext,
    deptId: number,
    { parentId: wanted }: RestoreDeptDto = {},
    once?: IdempotentRequest,
  ): Promise<void> {
    const restore = async (tree: LockedDeptTree): Promise<void> => {
      const dept = await tree.findDeleted(deptId);
      if (!dept) {
        tree.part.refuseNotBelow([await existing(tree, deptId)]);
        throw HistoryErrors.NOT_DELETED();
      }
      const parentId = wanted ?? dept.parentId;
      await tree.refuseRestore(dept, parentId);
      const noParent = () => DeptErrors.PARENT_GONE({ ids: [parentId] });
      const place = await placeFor(tree, parentId, undefined, noParent);
      const descendants = await tree.findDeletedWith(dept);
      const deepest = descendants.reduce((most, { depth }) => Math.max(most, depth), dept.depth);
      if (place.depth + deepest - dept.depth > MAX_DEPTH) throw DeptErrors.TOO_DEEP();
      await tree.restore(dept, place, descendants);
    };
    return this.depts.transaction(ctx, restore, once);
  }

  /** Numbers children of one department in the order of this list; others keep their numbers. */
  async order(ctx: RequestContext, { parentId, deptIds }: OrderDeptsDto): Promise<void> {
    const parent = parentId ?? ROOT_ID;
    await this.depts.transaction(ctx, async (tree) => {
      if (parent !== ROOT_ID && !(await tree.find(parent))) throw DeptErrors.PARENT_NOT_FOUND();
      const depts = inOrder(await tree.findMany(deptIds), deptIds);
      refuseMissing(depts, deptIds);
      tree.part.refuseNotBelow(depts);
      const elsewhere = depts.filter((dept) => dept.parentId !== parent);
      if (elsewhere.length > 0)
        throw DeptErrors.NOT_A_CHILD({ ids: sorted(elsewhere.map(({ deptId }) => deptId)) });
      await tree.setOrder(depts);
    });
  }

  async #change(
    ctx: RequestContext,
    deptId: number,
    { parentId: wanted, tenantId }: CreateDeptDto,
    expected: Expected,
    fieldsOf: (dept: TenantryDept) => CreateDeptDto,
  ): Promise<number> {
    refuseForeignTenant(ctx, tenantId);
    return this.depts.transaction(ctx, async (tree) => {
      const dept = await existing(tree, deptId);
      const parentId = wanted ?? dept.parentId;
      const isMove = parentId !== dept.parentId;
      const fields = withDefaults(fieldsOf(dept), DEPT_DEFAULTS);
      tree.refuseChange(dept, fields, isMove);
      refuseStale(dept, expected);
      return tree.replace(dept, fields, isMove ? await placeForMove(tree, dept, parentId) : undefined);
    });
  }
}

/** A place under a valid parent: one of this tenant, not deleted, not disabled, in the caller's part; or the top level. */
async function placeFor(
  tree: LockedDeptTree,
  parentId: number,
  moving?: TenantryDept,
  noParent: () => Refusal = DeptErrors.PARENT_NOT_FOUND,
): Promise<DeptPlace> {
  const parent = parentId === ROOT_ID ? null : await tree.find(parentId);
  if (parentId !== ROOT_ID && !parent) throw noParent();
  const place = { parentId, ...(parent ? placeUnder(parent) : TOP_LEVEL) };
  tree.part.refusePlaces([place]);
  if (!parent) return place;
  if (moving && isWithin(moving, parent)) throw DeptErrors.CYCLE();
  if (parent.status !== '0') throw DeptErrors.PARENT_DISABLED();
  return place;
}

async function placeForMove(tree: LockedDeptTree, dept: TenantryDept, parentId: number): Promise<DeptPlace> {
  const place = await placeFor(tree, parentId, dept);
  // What goes no deeper cannot become too deep, so it is not measured.
  if (place.depth <= dept.depth) return place;
  if (place.depth + (await tree.findHeight(dept)) > MAX_DEPTH) throw DeptErrors.TOO_DEEP();
  return place;
}

function refuseMissing(found: readonly TenantryDept[], deptIds: readonly number[]): void {
  const known = new Set(found.map(({ deptId }) => deptId));
  const ids = deptIds.filter((deptId) => !known.has(deptId));
  if (ids.length > 0) throw DeptErrors.NOT_FOUND({ ids: sorted(ids) });
}

/** A department and all below it, parents before their children. */
async function findSubtree(tree: LockedDeptTree, top: TenantryDept): Promise<TenantryDept[]> {
  if (await tree.hasMoreBelow(MAX_SUBTREE - 1, top)) throw DeptErrors.SUBTREE_TOO_LARGE();
  return [top, ...(await tree.findBelow(top))];
}

async function refuseOccupied(tree: LockedDeptTree, depts: readonly TenantryDept[]): Promise<void> {
  const occupied = await tree.findOccupied(depts.map(({ deptId }) => deptId));
  if (occupied.length > 0) throw DeptErrors.HAS_USERS({ ids: sorted(occupied) });
}

function inOrder(depts: readonly TenantryDept[], deptIds: readonly number[]): TenantryDept[] {
  const places = new Map(deptIds.map((deptId, place) => [deptId, place]));
  return depts.toSorted((a, b) => (places.get(a.deptId) ?? 0) - (places.get(b.deptId) ?? 0));
}

function sorted(ids: readonly number[]): number[] {
  return ids.toSorted((a, b) => a - b);
}
