import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../tenancy/request-context';
import { refuseForeignTenant } from '../tenant/refuse-foreign-tenant';
import { ZonedTime } from '../time/zoned-time';
import { isWithin, MAX_DEPTH, placeUnder, TOP_LEVEL } from '../tree/tree-path';
import type { CreateDeptDto, DeptDto, UpdateDeptDto } from './dept.dto';
import type { DeptEntity } from './dept.entity';
import { DeptErrors } from './dept.errors';
import { toDeptDto, toDeptFields } from './dept.mapper';
import { DeptRepository } from './dept.repository';
import type { DeptPlace, LockedDeptTree } from './locked-dept-tree';

/** Parent id of a top-level department. */
const ROOT_ID = 0;

/** The rules of the department tree. */
@Injectable()
export class DeptService {
  constructor(
    private readonly depts: DeptRepository,
    private readonly time: ZonedTime,
  ) {}

  async get(ctx: RequestContext, deptId: number): Promise<DeptDto> {
    const dept = await this.depts.in(ctx).find(deptId);
    if (!dept) throw DeptErrors.NOT_FOUND();
    return toDeptDto(dept, this.time);
  }

  /** Gives the id of the new department. */
  async create(ctx: RequestContext, dto: CreateDeptDto): Promise<number> {
    refuseForeignTenant(ctx, dto.tenantId);
    return this.depts.transaction(ctx, async (tree) => {
      const place = await placeFor(tree, dto.parentId ?? ROOT_ID);
      if (place.depth > MAX_DEPTH) throw DeptErrors.TOO_DEEP();
      return tree.add(toDeptFields(dto), place);
    });
  }

  /** Replaces a department; with another `parentId` it moves there, with all that stands below it. */
  async update(ctx: RequestContext, dto: UpdateDeptDto): Promise<void> {
    refuseForeignTenant(ctx, dto.tenantId);
    await this.depts.transaction(ctx, async (tree) => {
      const dept = await tree.find(dto.deptId);
      if (!dept) throw DeptErrors.NOT_FOUND();
      const parentId = dto.parentId ?? dept.parentId;
      if (parentId !== dept.parentId) await tree.move(dept, await placeForMove(tree, dept, parentId));
      await tree.replace(dept.deptId, toDeptFields(dto));
    });
  }

  /** Deletes all of these departments, or none. */
  async delete(ctx: RequestContext, deptIds: readonly number[]): Promise<void> {
    await this.depts.transaction(ctx, async (tree) => {
      const existing = await tree.findExisting(deptIds);
      if (existing.length < new Set(deptIds).size) throw DeptErrors.NOT_FOUND();
      refuseAny(await tree.findParents(deptIds), DeptErrors.HAS_CHILDREN);
      refuseAny(await tree.findOccupied(deptIds), DeptErrors.HAS_USERS);
      await tree.markDeleted(deptIds);
    });
  }
}

/** A place under a valid parent: one of this tenant, not deleted, not disabled; or the top level. */
async function placeFor(tree: LockedDeptTree, parentId: number, moving?: DeptEntity): Promise<DeptPlace> {
  if (parentId === ROOT_ID) return { parentId, ...TOP_LEVEL };
  const parent = await tree.find(parentId);
  if (!parent) throw DeptErrors.PARENT_NOT_FOUND();
  if (moving && isWithin(moving, parent)) throw DeptErrors.CYCLE();
  if (parent.status !== '0') throw DeptErrors.PARENT_DISABLED();
  return { parentId, ...placeUnder(parent) };
}

async function placeForMove(tree: LockedDeptTree, dept: DeptEntity, parentId: number): Promise<DeptPlace> {
  const place = await placeFor(tree, parentId, dept);
  if (place.depth + (await tree.findHeight(dept)) > MAX_DEPTH) throw DeptErrors.TOO_DEEP();
  return place;
}

function refuseAny(ids: number[], refusal: (details: { ids: number[] }) => Error): void {
  if (ids.length > 0) throw refusal({ ids: ids.toSorted((a, b) => a - b) });
}
