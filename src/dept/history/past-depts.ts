import type { ChangedFields } from '../../database/change-log';
import { TimeSlices } from '../../time/time-slices';
import { placeUnder, TOP_LEVEL, type Place } from '../../tree/tree-path';
import { ancestorIds, ROOT_ID, type DeptRow } from '../dept.entity';
import type { DeptReader } from '../dept-reader.repository';
import type { TreeSource } from '../dept-list.service';
import { ENTRIES_AT_ONCE, type DeptChangeEntry, type DeptJournalReader } from './dept-journal.repository';

type Fields = Partial<DeptRow>;

/**
 * Undoes changes: a field had the value that the earliest entry after the version found in it; one that no entry has
 * changed has its value still. What follows holds for rows that were read before the entries, whatever is written meanwhile.
 */
class Undoing {
  /** Null for what did not exist. */
  readonly #fields = new Map<number, Fields | null>();
  /** The departments that have left a parent since. */
  readonly #left = new Map<number, Set<number>>();
  /** How often a department has come to a parent since. */
  readonly #come = new Map<number, number>();

  constructor(private readonly tenantId: string) {}

  /** Of how many departments anything is undone. */
  get size(): number {
    return this.#fields.size;
  }

  add({ resourceId, fields }: DeptChangeEntry): void {
    const deptId = Number(resourceId);
    const { before, after } = JSON.parse(fields) as { [K in keyof ChangedFields]: Fields | null };
    if (after?.parentId !== undefined) this.#come.set(after.parentId, this.comeTo(after.parentId) + 1);
    const known = this.#fields.get(deptId);
    if (known === null || (known && !before)) return;
    this.#fields.set(deptId, before && { ...before, ...known });
    if (before?.parentId === undefined || known?.parentId !== undefined) return;
    const left = this.#left.get(before.parentId) ?? new Set();
    this.#left.set(before.parentId, left.add(deptId));
  }

  comeTo(parentId: number): number {
    return this.#come.get(parentId) ?? 0;
  }

  /** The departments that stood below this one and have left it since. */
  leftFrom(parentId: number): ReadonlySet<number> {
    return this.#left.get(parentId) ?? new Set();
  }

  /** Whether all fields are known without the row. */
  isWhole(deptId: number): boolean {
    return this.#fields.get(deptId)?.createTime !== undefined;
  }

  /** A department as it was, but for its path; `row` is what it is now, undefined for one that is deleted. */
  at(deptId: number, row: DeptRow | undefined): DeptRow | null {
    const fields = this.#fields.get(deptId);
    if (fields === undefined) return row ?? null;
    if (fields === null || (!row && !this.isWhole(deptId))) return null;
    const { createTime, updateTime } = fields;
    return Object.assign({ deptId, tenantId: this.tenantId, delFlag: '0' }, row, fields, {
      ...(createTime !== undefined && { createTime: new Date(createTime) }),
      ...(updateTime != null && { updateTime: new Date(updateTime) }),
    });
  }
}

/** Some departments at a version, with all above them. */
export class PastDepts {
  readonly #undoing: Undoing;
  readonly #rows = new Map<number, DeptRow | undefined>();

  constructor(
    private readonly version: number,
    private readonly depts: DeptReader,
    private readonly journal: DeptJournalReader,
  ) {
    this.#undoing = new Undoing(depts.tenantId);
  }

  async load(deptIds: readonly number[]): Promise<void> {
    for (let wanted = this.#unknownOf(deptIds); wanted.length > 0;) {
      const rows = await this.depts.findMany(wanted);
      for (const id of wanted) this.#rows.set(id, undefined);
      // Most stand where they stood, so those above them are wanted next.
      const above = this.#unknownOf(rows.flatMap(ancestorIds));
      for (const id of above) this.#rows.set(id, undefined);
      for (const row of [...rows, ...(await this.depts.findMany(above))]) this.#rows.set(row.deptId, row);
      const loaded = [...wanted, ...above];
      for (const entry of await this.journal.findOf(loaded, this.version)) this.#undoing.add(entry);
      wanted = this.#unknownOf(loaded.map((id) => this.#bare(id)?.parentId ?? ROOT_ID));
    }
  }

  /** A department that was loaded, and all above it, from the top down; empty when it did not exist. */
  chainTo(deptId: number): DeptRow[] {
    const dept = this.#bare(deptId);
    if (!dept) return [];
    const above = this.chainTo(dept.parentId);
    const ancestors = [ROOT_ID, ...above.map((each) => each.deptId)].join(',');
    return [...above, Object.assign({}, dept, { ancestors, depth: above.length + 1 })];
  }

  #bare(deptId: number): DeptRow | null {
    return this.#undoing.at(deptId, this.#rows.get(deptId));
  }

  #unknownOf(deptIds: readonly number[]): number[] {
    return [...new Set(deptIds)].filter((id) => id !== ROOT_ID && !this.#rows.has(id));
  }
}

/** The tree at a version, level by level. */
export class PastTree implements TreeSource {
  readonly #undoing: Undoing;
  readonly #next: () => Promise<DeptChangeEntry[]>;
  readonly #places = new Map<number, Place>();
  readonly #slices = new TimeSlices();

  constructor(
    version: number,
    private readonly depts: DeptReader,
    journal: DeptJournalReader,
    /** The department that the levels begin below; null for the top level. */
    root: DeptRow | null,
  ) {
    this.#undoing = new Undoing(depts.tenantId);
    this.#next = journal.following(version);
    if (root) this.#places.set(root.deptId, placeUnder({ key: root.deptId, ...root }));
    else this.#places.set(ROOT_ID, TOP_LEVEL);
  }

  async findChildren(parentIds: readonly number[], limit: number): Promise<DeptRow[]> {
    await this.#readOn();
    // Of those that are below them now, at most so many were not.
    const rows = await this.depts.findChildren(parentIds, limit + this.#undoing.size);
    await this.#readOn();
    const known = new Map(rows.map((row) => [row.deptId, row]));
    const left = parentIds.flatMap((id) => [...this.#undoing.leftFrom(id)]).filter((id) => !known.has(id));
    const changed = left.filter((id) => !this.#undoing.isWhole(id));
    if (changed.length > 0) {
      for (const row of await this.depts.findMany(changed)) known.set(row.deptId, row);
      await this.#readOn();
    }
    const parents = new Set(parentIds);
    const found: DeptRow[] = [];
    for (const deptId of new Set([...known.keys(), ...left])) {
      if (this.#slices.isOver) await this.#slices.next();
      const dept = this.#undoing.at(deptId, known.get(deptId));
      if (dept && parents.has(dept.parentId) && found.length < limit) found.push(this.#placed(dept));
    }
    return found;
  }

  async findParents(deptIds: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    await this.#readOn();
    for (let open = [...deptIds]; open.length > 0;) {
      const come = new Map(open.map((id) => [id, this.#undoing.comeTo(id)]));
      // Below these, all that is there now was there then.
      const parents = new Set(await this.depts.findParents(open.filter((id) => come.get(id) === 0)));
      const children = new Map<number, DeptRow[]>();
      // Of one child more than have come, one was there then.
      for (const [id, count] of come)
        if (count > 0) children.set(id, await this.depts.findChildren([id], count + 1));
      await this.#readOn();
      const wasBelow = (id: number) => (row: DeptRow) => this.#undoing.at(row.deptId, row)?.parentId === id;
      const settled = open.filter((id) => this.#undoing.comeTo(id) === come.get(id));
      for (const id of settled)
        if (this.#undoing.leftFrom(id).size > 0 || parents.has(id) || children.get(id)?.some(wasBelow(id)))
          found.push(id);
      open = open.filter((id) => this.#undoing.comeTo(id) !== come.get(id));
    }
    return found;
  }

  #placed(dept: DeptRow): DeptRow {
    const { deptId, parentId } = dept;
    const place = this.#places.get(parentId) ?? TOP_LEVEL;
    this.#places.set(deptId, placeUnder({ key: deptId, ...place }));
    return Object.assign(dept, place);
  }

  /** Reads the entries that were written since the last time. */
  async #readOn(): Promise<void> {
    for (let isMore = true; isMore;) {
      const entries = await this.#next();
      for (const entry of entries) {
        if (this.#slices.isOver) await this.#slices.next();
        this.#undoing.add(entry);
      }
      isMore = entries.length === ENTRIES_AT_ONCE;
    }
  }
}
