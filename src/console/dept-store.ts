import { allPages, ask, client, Refused } from './api.js';
import type { DeptDiff, DeptNode, DeptRow } from './api.js';
import { orderDepts, readDept } from './dept-actions.js';
import { Branch, TreeStore } from './tree-store.js';
import { t } from './words.js';

/** How many rows one request asks for. */
const PAGE = 500;
/** How many siblings one request puts into order. */
const MOST_ORDERED = 500;

/** The departments that were loaded, as the tree and the chart show them. */
export class DeptStore extends TreeStore<number, DeptRow> {
  /** Only the newest load or search counts. */
  #turn = 0;
  #wanted = '';
  /** The time that is shown; undefined is now. */
  asOf: string | undefined;
  isTruncated = false;
  isFollowing = false;
  /** What has become of departments, while two times are compared. */
  marks: ReadonlyMap<number, DeptDiff['change']> = new Map();

  constructor() {
    super(0);
  }

  protected idOf({ deptId }: DeptRow): number {
    return deptId;
  }

  protected readBelow(parentId: number): Promise<DeptRow[]> {
    return allPages((cursor) => {
      const query = { parentId, limit: PAGE, cursor, asOf: this.asOf };
      return ask(() => client.GET('/system/dept-api', { params: { query } }));
    });
  }

  /** Begins anew with two levels; both are open where the second is not long. */
  async load(): Promise<void> {
    await this.#read({ depth: 2 }, (nodes) => {
      this.all = new Branch();
      this.#take(this.all, 0, nodes, nodes.flatMap(({ children }) => children).length <= 50 ? 2 : 1);
    });
  }

  async showAsOf(asOf: string | undefined): Promise<void> {
    this.asOf = asOf;
    this.all = new Branch();
    this.found = null;
    await this.load();
  }

  /** Opens as many as one answer holds, the upper levels first. */
  async openAll(): Promise<void> {
    await this.#read({}, (nodes) => {
      this.all = new Branch();
      this.#take(this.all, 0, nodes, Infinity);
    });
  }

  /** Shows the departments with this in their names, and what is above them. */
  async search(deptName: string): Promise<void> {
    if (deptName === '' && this.#wanted === '') return;
    this.#wanted = deptName;
    if (deptName !== '')
      return this.#read({ deptName }, (nodes) => {
        this.found = new Branch();
        this.#take(this.found, 0, nodes, Infinity);
      });
    if (!this.isLoaded) return this.load();
    this.#turn += this.found ? 1 : 0;
    this.found = null;
    this.changed();
  }

  /** Selects a department as it is now, and opens all above it. */
  async show(deptId: number): Promise<void> {
    await this.guarded(async () => {
      const { parentId, ancestors } = (await readDept(deptId)).data;
      this.found = null;
      if (this.asOf !== undefined || !this.isLoaded) await this.showAsOf(undefined);
      await this.refresh([deptId, parentId]);
      for (const id of ancestors.split(',').slice(1)) await this.toggle(Number(id), true);
      this.select(deptId);
    });
  }

  update(state: Partial<Pick<DeptStore, 'marks' | 'isFollowing'>>): void {
    Object.assign(this, state);
    this.changed();
  }

  /** One place up or down among its siblings. */
  async reorder({ deptId, parentId }: DeptRow, by: -1 | 1): Promise<void> {
    const siblings = this.children(parentId).map((row) => row.deptId);
    const from = siblings.indexOf(deptId);
    const to = from + by;
    if (from === -1 || to < 0 || to >= siblings.length) return;
    if (siblings.length > MOST_ORDERED) throw new Refused(400, { msg: t('tooManyToOrder') }, null);
    const ordered = siblings.toSpliced(from, 1).toSpliced(to, 0, deptId);
    await orderDepts(parentId, ordered);
    await this.refresh(ordered);
  }

  /** Reads departments and their parents anew, where they are shown, and puts them where they stand now. */
  async refresh(deptIds: readonly number[]): Promise<void> {
    if (this.asOf !== undefined) return;
    const { all } = this;
    const parents = deptIds.flatMap((id) => all.rows.get(id)?.parentId ?? []);
    const wanted = [...new Set([...deptIds, ...parents])].filter((id) => id !== this.root);
    for (let at = 0; at < wanted.length; at += PAGE) {
      const ids = wanted.slice(at, at + PAGE);
      const query = { ids: ids.join(','), limit: PAGE };
      const { rows } = await ask(() => client.GET('/system/dept-api', { params: { query } }));
      if (all !== this.all) return this.refresh(deptIds);
      for (const id of ids) this.#leave(id, rows);
      for (const row of rows) this.#enter(row);
    }
    this.changed();
    if (this.found) await this.search(this.#wanted);
  }

  async #read(
    part: { readonly depth?: number; readonly deptName?: string },
    take: (nodes: readonly DeptNode[]) => void,
  ): Promise<void> {
    const turn = (this.#turn += 1);
    await this.guarded(async () => {
      const query = { ...part, asOf: this.asOf };
      const { rows, truncated } = await ask(() => client.GET('/system/dept-api/tree', { params: { query } }));
      if (turn !== this.#turn) return;
      this.isTruncated = truncated;
      take(rows);
    });
  }

  /** Keeps nested departments, open to so many levels. What is below a department without children here is not known. */
  #take(branch: Branch<number, DeptRow>, parentId: number, nodes: readonly DeptNode[], levels: number): void {
    this.put(branch, parentId, nodes);
    if (levels < 1) branch.open.delete(parentId);
    for (const { deptId, children } of nodes)
      if (children.length > 0) this.#take(branch, deptId, children, levels - 1);
  }

  /** What is below a department that has moved has other ancestors now: it is read again when it is opened. */
  #leave(deptId: number, now: readonly DeptRow[]): void {
    const { rows, below } = this.all;
    const ancestors = now.find((row) => row.deptId === deptId)?.ancestors;
    if (rows.get(deptId)?.ancestors !== ancestors) below.delete(deptId);
    const parentId = rows.get(deptId)?.parentId ?? this.root;
    const siblings = below.get(parentId)?.filter((id) => id !== deptId);
    if (siblings && rows.delete(deptId)) below.set(parentId, siblings);
  }

  /** Where its siblings are shown, at its place among them. */
  #enter(row: DeptRow): void {
    const { rows, below } = this.all;
    const siblings = below.get(row.parentId);
    if (!row.hasChildren) below.delete(row.deptId);
    if (!siblings) return;
    rows.set(row.deptId, row);
    const isAfter = (id: number): boolean => {
      const { orderNum = 0 } = rows.get(id) ?? {};
      return orderNum > row.orderNum || (orderNum === row.orderNum && id > row.deptId);
    };
    const at = siblings.findIndex(isAfter);
    below.set(row.parentId, siblings.toSpliced(at === -1 ? siblings.length : at, 0, row.deptId));
  }
}
