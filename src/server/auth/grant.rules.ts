import { DeptErrors } from '../../dept/dept.errors';
import { HttpErrors } from '../../errors/http.errors';
import { PartErrors } from '../../tenancy/access.errors';
import { holdsDept } from '../../tenancy/data-scope';
import { ManagedPart, type StandingDept } from '../../tenancy/managed-part';
import type { RequestContext } from '../../tenancy/request-context';
import { mayHandle, toRoles } from '../../tenancy/roles';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import type { Grantee } from './grantee.entity';

/** What is granted; of an account with its own department. */
export type Grant = Pick<Grantee, 'roles' | 'managedDeptIds' | 'dataScope' | 'scopeDeptIds'> & {
  readonly deptId?: number | null;
};

const MANAGED = {
  zh: '角色 dept_admin 必须管理 1 到 50 个部门，其他角色不能有',
  en: 'the role dept_admin has 1 to 50 departments that it manages, and no other role has any',
};
const CUSTOM = {
  zh: 'dataScope 为 custom 时必须有 1 到 50 个部门，其他情况不能有',
  en: 'a custom dataScope has 1 to 50 departments, and no other has any',
};

/** Lists of departments stand where the role or the data scope takes them, and nowhere else. */
export function refuseOddGrant({ roles, managedDeptIds, dataScope, scopeDeptIds }: Grant): void {
  const isAdministrator = toRoles(roles).includes('dept_admin');
  const fields = [
    ...(isAdministrator === managedDeptIds.length > 0 ? [] : [{ field: 'managedDeptIds', message: MANAGED }]),
    ...((dataScope === 'custom') === scopeDeptIds.length > 0
      ? []
      : [{ field: 'scopeDeptIds', message: CUSTOM }]),
  ];
  if (fields.length > 0) throw HttpErrors.INVALID({ fields });
}

/** All departments that a grant names, each once. */
export function deptsIn({ managedDeptIds, scopeDeptIds, deptId = null }: Grant): number[] {
  return [...new Set([...managedDeptIds, ...scopeDeptIds, ...(deptId === null ? [] : [deptId])])];
}

/**
 * The departments that must be looked up, under the lock of the tree, before something is granted: those that were not named before,
 * and for a caller who has only a part of the tenant all of them.
 */
export function deptsToLookUp(ctx: RequestContext, grant: Grant, before: Grant | null = null): number[] {
  const had = before ? deptsIn(before) : [];
  const isLimited = ctx.dataScope !== null || !ManagedPart.of(ctx).isWhole;
  if (isLimited) return [...new Set([...deptsIn(grant), ...had])];
  return deptsIn(grant).filter((id) => !had.includes(id));
}

/** Refuses departments that the tenant has not, or not any more. One that was named before may stay: it gives nothing. */
export function refuseUnknownDepts(
  grant: Grant,
  found: readonly StandingDept[],
  before: Grant | null = null,
): void {
  const known = [...found.map(({ deptId }) => deptId), ...(before ? deptsIn(before) : [])];
  const ids = deptsIn(grant).filter((id) => !known.includes(id));
  if (ids.length > 0) throw DeptErrors.NOT_FOUND({ ids: ids.sort((a, b) => a - b) });
}

/**
 * Refuses a grant of more than the caller has: departments to manage outside its own part, rows outside its data scope. The rows that
 * somebody owns are beyond nobody's scope. `depts` are the departments that the grant names, as far as they live.
 */
export function refuseBeyond(ctx: RequestContext, grant: Grant, depts: readonly StandingDept[]): void {
  ManagedPart.of(ctx).refuseOutside(depts.filter(({ deptId }) => grant.managedDeptIds.includes(deptId)));
  const outside = outsideScope(ctx, grant, depts);
  if (outside) throw PartErrors.OUTSIDE_SCOPE({ ids: outside });
}

/**
 * The departments whose rows are granted and outside the caller's data scope; none are named where all are granted. Null: it is within.
 * One that is not among the live ones is outside: if it is restored, it gives what it gave.
 */
export function outsideScope(
  { dataScope: own }: RequestContext,
  { dataScope, scopeDeptIds, deptId = null }: Grant,
  depts: readonly StandingDept[],
): number[] | null {
  if (own === null || dataScope === 'own') return null;
  if (dataScope === 'all') return [];
  const ids = dataScope === 'custom' ? scopeDeptIds : deptId === null ? [] : [deptId];
  const held = depts.filter((dept) => holdsDept(own, dept, dataScope === 'deptAndBelow'));
  const outside = ids.filter((id) => !held.some((dept) => dept.deptId === id));
  return outside.length > 0 ? outside.sort((a, b) => a - b) : null;
}

/** superadmin exists only on the platform, and no one handles a role above their own. */
export function hasRolesAbove(ctx: RequestContext, stored: string): boolean {
  const roles = toRoles(stored);
  const misplaced = roles.includes('superadmin') && ctx.tenantId !== PLATFORM_TENANT;
  return misplaced || !mayHandle(ctx.roles, roles);
}
