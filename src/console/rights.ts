import type { Dept, Me } from './api.js';

type Placed = Pick<Dept, 'deptId' | 'ancestors'>;

/** What the caller may do, so that nothing else is offered. The service decides all the same. */
export class Rights {
  readonly #isManager: boolean;
  readonly #managed: ReadonlySet<string>;
  readonly mayFollow: boolean;
  readonly mayCompare: boolean;
  /** Of a department, and to restore deleted ones. */
  readonly mayCreateAtTop: boolean;

  constructor(private readonly me: Me) {
    this.#isManager = me.roles.some((role) => role === 'superadmin' || role === 'tenant_admin');
    this.#managed = new Set(me.managedDeptIds.map(String));
    this.mayFollow = this.#isManager && this.may('change:read');
    this.mayCompare = this.#isManager && this.may('dept:read');
    this.mayCreateAtTop = this.#isManager && this.may('dept:write');
  }

  may(permission: string): boolean {
    return this.me.permissions.includes(permission);
  }

  /** To edit it, and to create something below it. */
  mayEdit(dept: Placed): boolean {
    return this.may('dept:write') && this.#isInside(dept);
  }

  /** To move, order, disable or delete it. */
  mayRearrange(dept: Placed): boolean {
    return this.may('dept:write') && (this.#isManager || this.#isBelow(dept));
  }

  maySeeHistory(dept: Placed): boolean {
    return this.may('dept:read') && this.#isInside(dept);
  }

  #isInside(dept: Placed): boolean {
    return this.#isManager || this.#managed.has(String(dept.deptId)) || this.#isBelow(dept);
  }

  #isBelow({ ancestors }: Placed): boolean {
    return ancestors.split(',').some((id) => this.#managed.has(id));
  }
}
