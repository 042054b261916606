/** The fields that programs change. */
export interface ModelFields {
  readonly parentId: number;
  readonly deptName: string;
  readonly orderNum: number;
  readonly leader: string | null;
  readonly status: string;
}

interface ModelDept extends ModelFields {
  /** The top of the subtree that was deleted, or null when it was deleted alone. */
  readonly deletedWith?: number | null;
  /** What was above it when it was deleted. */
  readonly stoodBelow?: readonly number[];
}

/** Who asks: one who manages what is below these departments, or null who manages all. */
export type Managing = readonly number[] | null;

const OUTSIDE = 'OUTSIDE_MANAGED_DEPTS';

export interface ModelNode extends ModelFields {
  readonly deptId: number;
  readonly ancestors: string;
  readonly hasChildren: boolean;
  readonly children: readonly ModelNode[];
}

const NEW: ModelDept = { parentId: 0, deptName: '', orderNum: 0, leader: null, status: '0' };

/** The departments of a tenant, kept as plainly as can be, to compare with. Each method gives the reason of a refusal, or null. */
export class DeptModel {
  readonly #depts = new Map<number, ModelDept>();
  /** The departments of accounts. */
  readonly accounts = new Map<number, number | null>();

  get ids(): number[] {
    return [...this.#depts.keys()];
  }

  path(id: number): string | null {
    const dept = this.#live(id);
    return dept && [0, ...this.#chain(dept.parentId)].join(',');
  }

  childrenOf(parentId: number): number[] {
    return this.ids.filter((id) => this.#live(id)?.parentId === parentId);
  }

  /** The tree as the API shows it. */
  tree(parentId = 0): ModelNode[] {
    const own = this.childrenOf(parentId).map((id) => [id, this.#live(id)!] as const);
    own.sort(([a, first], [b, second]) => first.orderNum - second.orderNum || a - b);
    return own.map(([deptId, fields]) => {
      const children = this.tree(deptId);
      return { ...fields, deptId, ancestors: this.path(deptId)!, hasChildren: children.length > 0, children };
    });
  }

  judgeCreate({ parentId = 0 }: Partial<ModelFields>, by: Managing = null): string | null {
    const parent = this.#live(parentId);
    if (parentId !== 0 && !parent) return 'PARENT_NOT_FOUND';
    if (!this.manages(parentId, by)) return OUTSIDE;
    return !parent || parent.status === '0' ? null : 'PARENT_DISABLED';
  }

  judgeUpdate(id: number, { parentId, status }: Partial<ModelFields>, by: Managing = null): string | null {
    const dept = this.#live(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    const isMove = parentId !== undefined && parentId !== dept.parentId;
    const isDetail = !isMove && (status ?? dept.status) === dept.status;
    if (!this.#isBelow(id, by) && !(isDetail && this.manages(id, by))) return OUTSIDE;
    if (!isMove) return null;
    if (this.#live(parentId) && this.#chain(parentId).includes(id)) return 'DEPT_CYCLE';
    return this.judgeCreate({ parentId }, by);
  }

  judgeDelete(ids: readonly number[], by: Managing = null): string | null {
    if (ids.some((id) => !this.#live(id))) return 'DEPT_NOT_FOUND';
    if (!ids.every((id) => this.#isBelow(id, by))) return OUTSIDE;
    if (ids.some((id) => this.childrenOf(id).length > 0)) return 'DEPT_HAS_CHILDREN';
    return this.#areOccupied(ids) ? 'DEPT_HAS_USERS' : null;
  }

  judgeDeleteTree(id: number, by: Managing = null): string | null {
    if (!this.#live(id)) return 'DEPT_NOT_FOUND';
    if (!this.#isBelow(id, by)) return OUTSIDE;
    return this.#areOccupied(this.#subtree(id)) ? 'DEPT_HAS_USERS' : null;
  }

  judgeRestore(id: number, fields: Partial<ModelFields>, by: Managing = null): string | null {
    const dept = this.#depts.get(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    if (this.#live(id)) return this.#isBelow(id, by) ? 'NOT_DELETED' : OUTSIDE;
    const { parentId } = { ...dept, ...fields };
    if (parentId !== dept.parentId && !this.#hasStoodBelow(dept, by)) return OUTSIDE;
    return this.judgeCreate({ parentId }, by);
  }

  judgeOrder(parentId: number, by: Managing = null): string | null {
    return this.manages(parentId, by) ? null : OUTSIDE;
  }

  /** Of history, and of the deleted children of a department. */
  judgeLook(id: number, by: Managing = null): string | null {
    const dept = this.#depts.get(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    return (this.#live(id) ? this.manages(id, by) : this.#hasStoodBelow(dept, by)) ? null : OUTSIDE;
  }

  judgeJoin(deptId: number | null, by: Managing = null): string | null {
    const dept = deptId === null ? null : this.#live(deptId);
    if (deptId !== null && !dept) return 'DEPT_NOT_FOUND';
    if (by && (deptId === null || !this.manages(deptId, by))) return OUTSIDE;
    return !dept || dept.status === '0' ? null : 'DEPT_DISABLED';
  }

  judgeLeave(userId: number, by: Managing = null): string | null {
    if (!this.accounts.has(userId)) return 'USER_NOT_FOUND';
    return this.accountsOf(by).includes(userId) ? null : OUTSIDE;
  }

  /** The accounts that are shown to one who manages a part. */
  accountsOf(by: Managing): number[] {
    const isOwn = (deptId: number | null) => deptId !== null && this.manages(deptId, by);
    return [...this.accounts].filter(([, deptId]) => !by || isOwn(deptId)).map(([userId]) => userId);
  }

  /** Whether a live department is managed, or below one that is; 0 is the top level. */
  manages(id: number, by: Managing): boolean {
    return !by || (this.#live(id) !== null && this.#chain(id).some((each) => by.includes(each)));
  }

  /** Makes it, or changes it. */
  set(id: number, fields: Partial<ModelFields>): void {
    this.#depts.set(id, { ...(this.#depts.get(id) ?? NEW), ...fields });
  }

  /** Whether it has these values already. */
  has(id: number, fields: Partial<ModelFields>): boolean {
    const dept: Partial<ModelFields> = this.#depts.get(id) ?? {};
    return Object.entries(fields).every(([name, value]) => dept[name as keyof ModelFields] === value);
  }

  delete(ids: readonly number[], top: number | null = null): void {
    const gone = ids.map((id) => {
      const dept = this.#depts.get(id)!;
      return [id, { ...dept, deletedWith: top, stoodBelow: this.#chain(dept.parentId) }] as const;
    });
    for (const [id, dept] of gone) this.#depts.set(id, dept);
  }

  deleteTree(top: number): void {
    this.delete(this.#subtree(top), top);
  }

  restore(top: number, fields: Partial<ModelFields>): void {
    const { deletedWith } = this.#depts.get(top)!;
    const isTogether = (id: number) =>
      deletedWith !== null &&
      this.#depts.get(id)!.deletedWith === deletedWith &&
      this.#chain(id).includes(top);
    for (const id of this.ids.filter((each) => each === top || isTogether(each))) {
      const { deletedWith: _, stoodBelow: __, ...dept } = this.#depts.get(id)!;
      this.#depts.set(id, { ...dept, ...(id === top && fields) });
    }
  }

  #subtree(top: number): number[] {
    return this.ids.filter((id) => this.#live(id) && this.#chain(id).includes(top));
  }

  #isBelow(id: number, by: Managing): boolean {
    return this.manages(this.#live(id)!.parentId, by);
  }

  #hasStoodBelow({ stoodBelow = [] }: ModelDept, by: Managing): boolean {
    return !by || stoodBelow.some((each) => by.includes(each) && this.#live(each));
  }

  #areOccupied(ids: readonly number[]): boolean {
    return [...this.accounts.values()].some((deptId) => deptId !== null && ids.includes(deptId));
  }

  #live(id: number): ModelDept | null {
    const dept = this.#depts.get(id);
    return dept && dept.deletedWith === undefined ? dept : null;
  }

  #chain(id: number): number[] {
    return id === 0 ? [] : [...this.#chain(this.#depts.get(id)!.parentId), id];
  }
}
