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
}

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

  judgeCreate({ parentId = 0 }: Partial<ModelFields>): string | null {
    if (parentId === 0) return null;
    const parent = this.#live(parentId);
    if (!parent) return 'PARENT_NOT_FOUND';
    return parent.status === '0' ? null : 'PARENT_DISABLED';
  }

  judgeUpdate(id: number, { parentId }: Partial<ModelFields>): string | null {
    const dept = this.#live(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    if (parentId === undefined || parentId === dept.parentId) return null;
    if (this.#live(parentId) && this.#chain(parentId).includes(id)) return 'DEPT_CYCLE';
    return this.judgeCreate({ parentId });
  }

  judgeDelete(ids: readonly number[]): string | null {
    if (ids.some((id) => !this.#live(id))) return 'DEPT_NOT_FOUND';
    return ids.some((id) => this.childrenOf(id).length > 0) ? 'DEPT_HAS_CHILDREN' : null;
  }

  judgeDeleteTree(id: number): string | null {
    return this.#live(id) ? null : 'DEPT_NOT_FOUND';
  }

  judgeRestore(id: number, fields: Partial<ModelFields>): string | null {
    const dept = this.#depts.get(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    return this.#live(id) ? 'NOT_DELETED' : this.judgeCreate({ ...dept, ...fields });
  }

  /** Makes it, or changes it. */
  set(id: number, fields: Partial<ModelFields>): void {
    this.#depts.set(id, { ...(this.#depts.get(id) ?? NEW), ...fields });
  }

  delete(ids: readonly number[], top: number | null = null): void {
    for (const id of ids) this.#depts.set(id, { ...this.#depts.get(id)!, deletedWith: top });
  }

  deleteTree(top: number): void {
    this.delete(
      this.ids.filter((id) => this.#live(id) && this.#chain(id).includes(top)),
      top,
    );
  }

  restore(top: number, fields: Partial<ModelFields>): void {
    const { deletedWith } = this.#depts.get(top)!;
    const isTogether = (id: number) =>
      deletedWith !== null &&
      this.#depts.get(id)!.deletedWith === deletedWith &&
      this.#chain(id).includes(top);
    for (const id of this.ids.filter((each) => each === top || isTogether(each))) {
      const { deletedWith: _, ...dept } = this.#depts.get(id)!;
      this.#depts.set(id, { ...dept, ...(id === top && fields) });
    }
  }

  #live(id: number): ModelDept | null {
    const dept = this.#depts.get(id);
    return dept && dept.deletedWith === undefined ? dept : null;
  }

  #chain(id: number): number[] {
    return id === 0 ? [] : [...this.#chain(this.#depts.get(id)!.parentId), id];
  }
}
