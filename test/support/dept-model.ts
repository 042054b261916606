interface ModelDept {
  parentId: number;
  status: string;
  deleted: boolean;
  /** Of one that was deleted with a whole subtree: the department at its top. */
  deletedWith?: number;
}

/** Departments as the contract describes them, kept by parents alone; as plain as can be, to compare with. */
export class DeptModel {
  readonly #depts = new Map<number, ModelDept>();

  ids(): number[] {
    return [...this.#depts.keys()];
  }

  path(id: number): string | null {
    const dept = this.#live(id);
    return dept && [0, ...this.#chain(dept.parentId)].join(',');
  }

  judgeCreate(parentId: number): string | null {
    return this.#judgeParent(parentId);
  }

  judgeMove(id: number, parentId: number): string | null {
    const dept = this.#live(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    if (parentId === dept.parentId) return null;
    if (this.#live(parentId) && this.#chain(parentId).includes(id)) return 'DEPT_CYCLE';
    return this.#judgeParent(parentId);
  }

  judgeDelete(ids: number[]): string | null {
    if (ids.some((id) => !this.#live(id))) return 'DEPT_NOT_FOUND';
    const parents = new Set(
      [...this.#depts.values()].filter(({ deleted }) => !deleted).map(({ parentId }) => parentId),
    );
    return ids.some((id) => parents.has(id)) ? 'DEPT_HAS_CHILDREN' : null;
  }

  judgeDeleteTree(id: number): string | null {
    return this.#live(id) ? null : 'DEPT_NOT_FOUND';
  }

  judgeRestore(id: number): string | null {
    const dept = this.#depts.get(id);
    if (!dept) return 'DEPT_NOT_FOUND';
    return dept.deleted ? this.#judgeParent(dept.parentId) : 'NOT_DELETED';
  }

  create(id: number, parentId: number, status: string): void {
    this.#depts.set(id, { parentId, status, deleted: false });
  }

  move(id: number, parentId: number, status: string): void {
    Object.assign(this.#depts.get(id)!, { parentId, status });
  }

  delete(ids: number[]): void {
    for (const id of ids) this.#depts.get(id)!.deleted = true;
  }

  deleteTree(top: number): void {
    const within = this.ids().filter((id) => this.#live(id) && this.#chain(id).includes(top));
    for (const id of within) Object.assign(this.#depts.get(id)!, { deleted: true, deletedWith: top });
  }

  restore(top: number): void {
    const { deletedWith } = this.#depts.get(top)!;
    const isTogether = (id: number) =>
      deletedWith !== undefined &&
      this.#depts.get(id)!.deletedWith === deletedWith &&
      this.#chain(id).includes(top);
    for (const id of this.ids().filter((each) => each === top || isTogether(each)))
      Object.assign(this.#depts.get(id)!, { deleted: false, deletedWith: undefined });
  }

  #judgeParent(parentId: number): string | null {
    if (parentId === 0) return null;
    const parent = this.#live(parentId);
    if (!parent) return 'PARENT_NOT_FOUND';
    return parent.status === '0' ? null : 'PARENT_DISABLED';
  }

  #live(id: number): ModelDept | null {
    const dept = this.#depts.get(id);
    return dept && !dept.deleted ? dept : null;
  }

  #chain(id: number): number[] {
    return id === 0 ? [] : [...this.#chain(this.#depts.get(id)!.parentId), id];
  }
}
