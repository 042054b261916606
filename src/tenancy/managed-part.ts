import { isBelowAny } from '../database/tree-path';
import { PartErrors } from './access.errors';
import type { RequestContext } from './request-context';
import { isManager } from './roles';

/** What tells where a department stands. */
export interface StandingDept {
  readonly deptId: number;
  readonly ancestors: string;
}

/**
 * What a caller may manage of a tenant's departments: all of them; or, of a `dept_admin`, what is below the departments that it
 * manages, and the details of these themselves. Rows tell it by their paths. Before a write they must come from the unit of work that
 * writes: no department moves away from under its lock.
 */
export class ManagedPart {
  /** Null: all departments of the tenant. */
  private constructor(private readonly roots: readonly number[] | null) {}

  static of({ roles, managedDeptIds }: RequestContext): ManagedPart {
    const isLimited = roles.includes('dept_admin') && !isManager(roles);
    return new ManagedPart(isLimited ? managedDeptIds : null);
  }

  get isWhole(): boolean {
    return this.roots === null;
  }

  /** The departments that a `dept_admin` manages, live or not. */
  get deptIds(): readonly number[] {
    return this.roots ?? [];
  }

  /** This part without the managed departments that are not among these: a deleted one gives nothing. */
  among(live: readonly StandingDept[]): ManagedPart {
    const ids = live.map(({ deptId }) => deptId);
    return new ManagedPart(this.roots?.filter((root) => ids.includes(root)) ?? null);
  }

  /** Whether a department is managed, or below one that is. */
  holds(dept: StandingDept): boolean {
    return this.holdsBelow(dept) || this.deptIds.includes(dept.deptId);
  }

  /** Whether a department, or a place for one, is below a managed department. */
  holdsBelow(place: Pick<StandingDept, 'ancestors'>): boolean {
    return this.roots === null || isBelowAny(place, this.roots);
  }

  /** Whether the details of a department may become these. The status of a managed department is not one of them. */
  mayChange(
    dept: StandingDept & { readonly status: string },
    { status }: { readonly status: string },
  ): boolean {
    return this.holdsBelow(dept) || (this.holds(dept) && status === dept.status);
  }

  refuseOutside(depts: readonly StandingDept[]): void {
    refuse(depts.filter((dept) => !this.holds(dept)).map(({ deptId }) => deptId));
  }

  refuseNotBelow(depts: readonly StandingDept[]): void {
    refuse(depts.filter((dept) => !this.holdsBelow(dept)).map(({ deptId }) => deptId));
  }

  /** Places for departments; a refusal names the parents, the top level as 0. */
  refusePlaces(places: readonly { readonly ancestors: string; readonly parentId: number }[]): void {
    refuse(places.filter((place) => !this.holdsBelow(place)).map(({ parentId }) => parentId));
  }
}

function refuse(outside: readonly number[]): void {
  if (outside.length === 0) return;
  throw PartErrors.OUTSIDE_MANAGED({ ids: [...new Set(outside)].sort((a, b) => a - b) });
}
