import { chunksOf } from '../../database/in-chunks';
import { cutPage, firstOf, FirstRows, type Page } from '../../database/page';
import type { Key } from '../../database/scoped-table';
import { placeUnder, TOP_LEVEL, type Place } from '../../database/tree-path';
import { endOf, type Position } from '../../journal/journal-state';
import { TimeSlices } from '../../time/time-slices';
import type { DeptCriteria } from '../dept.conditions';
import { ancestorIds, ROOT_ID, type DeptRow } from '../dept.entity';
import { DeptErrors } from '../dept.errors';
import type { DeptReader, DeptSource, ListedDept } from '../dept-reader.repository';
import { changeOf, type DeptJournal } from './dept-journal';

/**
 * The departments of one tenant as of a version. It undoes the entries since: a field had the value that the earliest entry found in
 * it; one that no entry has changed has its value still. This holds for rows that were read before the entries, whatever is
 * written meanwhile.
 */
export class PastDeptReader implements DeptSource {
  /** Departments that were looked for by id, as they were but for their paths; null for what did not exist. */
  readonly #known = new Map<number, DeptRow | null>();
  /** The parents of those that have come, moved or gone since; null for what did not exist. */
  readonly #stood = new Map<number, number | null>();
  /** How often a department has come to a parent since. */
  readonly #come = new Map<number, number>();
  /** Where the children of a department stood, of those that were found. */
  readonly #places = new Map<number, Place>([[ROOT_ID, TOP_LEVEL]]);
  readonly #slices = new TimeSlices();
  /** The journal was read up to here. */
  #position: Position;

  constructor(
    readonly version: number,
    private readonly depts: DeptReader,
    private readonly journal: DeptJournal,
  ) {
    this.#position = endOf(version);
  }

  async find(deptId: number): Promise<DeptRow | null> {
    await this.#load([deptId]);
    return this.#chainTo(deptId).at(-1) ?? null;
  }

  /** The names from the top down to each of these departments; none of one that did not exist. */
  async findPaths(deptIds: readonly number[]): Promise<Map<number, string[]>> {
    await this.#load(deptIds);
    return new Map(deptIds.map((id) => [id, this.#chainTo(id).map(({ deptName }) => deptName)]));
  }

  /** A page of the children of a department that match, ordered by `orderNum` and `deptId`. Its key begins with the version. */
  async findPage(
    { parentId = ROOT_ID, name = '', leader, status }: DeptCriteria,
    after: Key | null,
    limit: number,
  ): Promise<Page<ListedDept>> {
    if (parentId !== ROOT_ID && !(await this.find(parentId))) throw DeptErrors.NOT_FOUND();
    const [, orderNum = -Infinity, deptId = 0] = (after ?? []).map(Number);
    const matches = (row: DeptRow): boolean =>
      row.deptName.includes(name) &&
      row.leader === (leader ?? row.leader) &&
      row.status === (status ?? row.status);
    const first = new FirstRows<DeptRow>(limit + 1, inOrder);
    for await (const rows of this.#childrenOf([parentId]))
      for (const row of rows) if (matches(row) && inOrder(row, { orderNum, deptId }) > 0) first.add(row);
    const page = cutPage(first.all(), limit, (row) => [this.version, row.orderNum, row.deptId]);
    const parents = new Set(await this.findParents(page.rows.map((row) => row.deptId)));
    const rows = page.rows.map((row) => Object.assign(row, { hasChildren: Number(parents.has(row.deptId)) }));
    return { ...page, rows };
  }

  /** The parents must have been found, or be the top level. */
  findChildren(parentIds: readonly number[], limit: number): Promise<DeptRow[]> {
    return firstOf(this.#childrenOf(parentIds), limit);
  }

  async findParents(deptIds: readonly number[]): Promise<number[]> {
    await this.#readOn();
    // Where none has come since, all children that are there now were there then.
    const parents = new Set(await this.depts.findParents(deptIds.filter((id) => this.#comeTo(id) === 0)));
    await this.#readOn();
    for (const id of deptIds)
      if (this.#comeTo(id) > 0) {
        if (await this.#hasKeptChild(id)) parents.add(id);
        else parents.delete(id);
      }
    for (const { parentId } of await this.#leftFrom(new Set(deptIds))) parents.add(parentId);
    return [...parents];
  }

  /** Whether a department has a child that was there then. Of one more than have come, one was. */
  async #hasKeptChild(parentId: number): Promise<boolean> {
    for (let come = 0; come < this.#comeTo(parentId);) {
      come = this.#comeTo(parentId);
      for await (const rows of this.depts.childrenOf([parentId], come + 1)) {
        await this.#readOn();
        if (rows.some((row) => this.#parentOf(row) === parentId)) return true;
      }
    }
    return false;
  }

  /**
   * The departments that were right below these, some at a time and in any order. Of all changes since it keeps two numbers each: where
   * departments stood. Their fields are read for those alone that stood here.
   */
  async *#childrenOf(parentIds: readonly number[]): AsyncGenerator<DeptRow[]> {
    const parents: ReadonlySet<number | null> = new Set(parentIds);
    const seen = new Set<number>();
    const touched = new Set<number>();
    const below = (depts: readonly DeptRow[]): DeptRow[] =>
      depts.filter(({ parentId }) => parents.has(parentId)).map((dept) => this.#placed(dept));
    await this.#readOn();
    for await (const rows of this.depts.childrenOf(parentIds)) {
      await this.journal.count(rows.length);
      await this.#readOn(touched);
      const were = rows.filter((row) => parents.has(this.#parentOf(row)) && !seen.has(row.deptId));
      for (const { deptId } of were) seen.add(deptId);
      yield below(await this.#undo(were));
    }
    // Those that are elsewhere now, or came before the page that was read next.
    for (const { deptId } of await this.#leftFrom(parents)) touched.add(deptId);
    for (const ids of chunksOf([...touched].filter((id) => !seen.has(id))))
      yield below(await this.#undo(await this.depts.findMany(ids), ids));
  }

  /** Loads departments and all above them. */
  async #load(deptIds: readonly number[]): Promise<void> {
    for (let wanted = this.#claim(deptIds); wanted.length > 0;) {
      const rows = await this.depts.findMany(wanted);
      // Most stand where they stood, so those above them are wanted next.
      const above = this.#claim(rows.flatMap(ancestorIds));
      const all = [...rows, ...(await this.depts.findMany(above))];
      const depts = await this.#undo(all, [...wanted, ...above]);
      for (const dept of depts) this.#known.set(dept.deptId, dept);
      wanted = this.#claim(depts.map(({ parentId }) => parentId));
    }
  }

  /** Of these ids, those that were not looked for yet. */
  #claim(deptIds: readonly number[]): number[] {
    const unknown = [...new Set(deptIds)].filter((id) => id !== ROOT_ID && !this.#known.has(id));
    for (const id of unknown) this.#known.set(id, null);
    return unknown;
  }

  /** A department that was loaded and all above it, from the top down; empty when it did not exist. */
  #chainTo(deptId: number): DeptRow[] {
    const dept = this.#known.get(deptId);
    return dept ? [...this.#chainTo(dept.parentId), this.#placed(dept)] : [];
  }

  /** Adds its path to a department whose parent was found. */
  #placed(dept: DeptRow): DeptRow {
    const place = this.#places.get(dept.parentId) ?? TOP_LEVEL;
    this.#places.set(dept.deptId, placeUnder({ key: dept.deptId, ...place }));
    return Object.assign(dept, place);
  }

  /** Departments as they were, but for their paths. `rows` are what they are now, without those that are deleted. */
  async #undo(rows: readonly DeptRow[], deptIds = rows.map(({ deptId }) => deptId)): Promise<DeptRow[]> {
    const changes = await this.journal.netChanges(deptIds, this.version);
    const live = new Map(rows.map((row) => [row.deptId, row]));
    return deptIds.flatMap((deptId) => {
      const row = live.get(deptId);
      const change = changes.get(deptId);
      if (!change) return row ?? [];
      const { before } = change;
      if (!before || (!row && before.createTime === undefined)) return [];
      const { createTime, updateTime } = before;
      return Object.assign({ deptId, tenantId: this.depts.tenantId, delFlag: '0' }, row, before as DeptRow, {
        ...(createTime !== undefined && { createTime: new Date(createTime) }),
        ...(updateTime != null && { updateTime: new Date(updateTime) }),
      });
    });
  }

  #parentOf({ deptId, parentId }: DeptRow): number | null {
    const stood = this.#stood.get(deptId);
    return stood === undefined ? parentId : stood;
  }

  #comeTo(parentId: number): number {
    return this.#come.get(parentId) ?? 0;
  }

  /** Those that stood below these and have come, moved or gone since. */
  async #leftFrom(
    parents: ReadonlySet<number | null>,
  ): Promise<{ readonly deptId: number; readonly parentId: number }[]> {
    const left = [];
    for (const [deptId, parentId] of this.#stood) {
      if (this.#slices.isOver) await this.#slices.next();
      if (parentId !== null && parents.has(parentId)) left.push({ deptId, parentId });
    }
    return left;
  }

  /** Reads what was done since the last time, and adds to which departments. */
  async #readOn(touched?: Set<number>): Promise<void> {
    for await (const steps of this.journal.steps(this.#position, { placesOf: 'dept' })) {
      this.#position = steps.at(-1) ?? this.#position;
      for (const step of steps) {
        if (step.kind !== 'dept') continue;
        if (this.#slices.isOver) await this.#slices.next();
        const deptId = Number(step.resourceId);
        touched?.add(deptId);
        if (step.fields == null) continue;
        const { before, after } = changeOf(step.fields);
        if (after?.parentId !== undefined) this.#come.set(after.parentId, this.#comeTo(after.parentId) + 1);
        // The earliest tells.
        if (this.#stood.has(deptId)) continue;
        if (!before) this.#stood.set(deptId, null);
        else if (before.parentId !== undefined) this.#stood.set(deptId, before.parentId);
      }
    }
  }
}

type Ordered = Pick<DeptRow, 'orderNum' | 'deptId'>;

function inOrder(a: Ordered, b: Ordered): number {
  return a.orderNum - b.orderNum || a.deptId - b.deptId;
}
