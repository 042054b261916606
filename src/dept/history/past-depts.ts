import type { ChangedFields } from '../../journal/change-log';
import { chunksOf } from '../../database/in-chunks';
import { TimeSlices } from '../../time/time-slices';
import { placeUnder, TOP_LEVEL, type Place } from '../../database/tree-path';
import { firstOf } from '../../database/page';
import { ancestorIds, ROOT_ID, type DeptRow } from '../dept.entity';
import type { DeptReader } from '../dept-reader.repository';
import type { TreeSource } from '../dept-list.service';
import type { DeptChangeEntry, DeptJournalReader, DeptStep } from './dept-journal.repository';

type Fields = Partial<DeptRow>;

function changeOf(fields: string): { [K in keyof ChangedFields]: Fields | null } {
  return JSON.parse(fields) as { [K in keyof ChangedFields]: Fields | null };
}

/**
 * Undoes changes: a field had the value that the earliest entry after the version found in it; one that no entry has
 * changed has its value still. What follows holds for rows that were read before the entries, whatever is written meanwhile.
 */
class Undoing {
  /** Null for what did not exist. */
  readonly #fields = new Map<number, Fields | null>();

  constructor(
    private readonly tenantId: string,
    private readonly version: number,
    private readonly journal: DeptJournalReader,
  ) {}

  async load(deptIds: readonly number[]): Promise<void> {
    for await (const entries of this.journal.findOf(deptIds, this.version))
      for (const entry of entries) this.#add(entry);
  }

  /** A department as it was, but for its path; `row` is what it is now, undefined for one that is deleted. */
  at(deptId: number, row: DeptRow | undefined): DeptRow | null {
    const fields = this.#fields.get(deptId);
    if (fields === undefined) return row ?? null;
    if (fields === null || (!row && fields.createTime === undefined)) return null;
    const { createTime, updateTime } = fields;
    return Object.assign({ deptId, tenantId: this.tenantId, delFlag: '0' }, row, fields as DeptRow, {
      ...(createTime !== undefined && { createTime: new Date(createTime) }),
      ...(updateTime != null && { updateTime: new Date(updateTime) }),
    });
  }

  #add({ resourceId, fields }: DeptChangeEntry): void {
    const deptId = Number(resourceId);
    const { before } = changeOf(fields);
    const known = this.#fields.get(deptId);
    if (known === null || (known && !before)) return;
    this.#fields.set(deptId, before && { ...before, ...known });
  }
}

/** Some departments at a version, with all above them. */
export class PastDepts {
  readonly #undoing: Undoing;
  readonly #rows = new Map<number, DeptRow | undefined>();

  constructor(
    version: number,
    private readonly depts: DeptReader,
    journal: DeptJournalReader,
  ) {
    this.#undoing = new Undoing(depts.tenantId, version, journal);
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
      await this.#undoing.load(loaded);
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

/**
 * The tree at a version, level by level. Of all changes since it keeps two numbers each: where departments stood. Their fields
 * are read for those alone that are shown.
 */
export class PastTree implements TreeSource {
  /** The parents of those that have come, moved or gone since; null for what did not exist. */
  readonly #stood = new Map<number, number | null>();
  /** How often a department has come to a parent since. */
  readonly #come = new Map<number, number>();
  readonly #places = new Map<number, Place>();
  readonly #slices = new TimeSlices();
  readonly #stepsSince: () => AsyncGenerator<DeptStep[]>;

  constructor(
    private readonly version: number,
    private readonly depts: DeptReader,
    private readonly journal: DeptJournalReader,
    /** The department that the levels begin below; null for the top level. */
    root: DeptRow | null,
  ) {
    this.#stepsSince = journal.following(version, { places: true });
    if (root) this.#places.set(root.deptId, placeUnder({ key: root.deptId, ...root }));
    else this.#places.set(ROOT_ID, TOP_LEVEL);
  }

  findChildren(parentIds: readonly number[], limit: number): Promise<DeptRow[]> {
    return firstOf(this.childrenOf(parentIds), limit);
  }

  /** The departments that were right below these, some at a time and in any order. */
  async *childrenOf(parentIds: readonly number[]): AsyncGenerator<DeptRow[]> {
    const parents: ReadonlySet<number | null> = new Set(parentIds);
    const seen = new Set<number>();
    const touched = new Set<number>();
    await this.#readOn();
    for await (const rows of this.depts.childrenOf(parentIds)) {
      await this.#readOn(touched);
      const were = rows.filter((row) => parents.has(this.#parentOf(row)) && !seen.has(row.deptId));
      for (const { deptId } of were) seen.add(deptId);
      yield this.#asTheyWere(parents, were);
    }
    // Those that are elsewhere now, or came before the page that was read next.
    for (const { deptId } of await this.#leftFrom(parents)) touched.add(deptId);
    for (const ids of chunksOf([...touched].filter((id) => !seen.has(id))))
      yield this.#asTheyWere(parents, await this.depts.findMany(ids), ids);
  }

  async findParents(deptIds: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    await this.#readOn();
    for (let open = [...deptIds]; open.length > 0;) {
      const come = new Map(open.map((id) => [id, this.#comeTo(id)]));
      // Below these, all that is there now was there then.
      const parents = new Set(await this.depts.findParents(open.filter((id) => come.get(id) === 0)));
      for (const [id, count] of come) if (count > 0 && (await this.#keptChild(id, count))) parents.add(id);
      await this.#readOn();
      for (const { parentId } of await this.#leftFrom(new Set(open))) parents.add(parentId);
      const settled = open.filter((id) => this.#comeTo(id) === come.get(id));
      found.push(...settled.filter((id) => parents.has(id)));
      open = open.filter((id) => this.#comeTo(id) !== come.get(id));
    }
    return found;
  }

  /** Whether a department has a child that was there then. Of one more than have come, one was. */
  async #keptChild(parentId: number, come: number): Promise<boolean> {
    for await (const rows of this.depts.childrenOf([parentId], come + 1)) {
      await this.#readOn();
      if (rows.some((row) => this.#parentOf(row) === parentId)) return true;
    }
    return false;
  }

  async #asTheyWere(
    parents: ReadonlySet<number | null>,
    rows: readonly DeptRow[],
    deptIds = rows.map(({ deptId }) => deptId),
  ): Promise<DeptRow[]> {
    const undoing = new Undoing(this.depts.tenantId, this.version, this.journal);
    await undoing.load(deptIds);
    const known = new Map(rows.map((row) => [row.deptId, row]));
    const depts = deptIds.map((id) => undoing.at(id, known.get(id)));
    return depts.flatMap((dept) => (dept && parents.has(dept.parentId) ? [this.#placed(dept)] : []));
  }

  #placed(dept: DeptRow): DeptRow {
    const { deptId, parentId } = dept;
    const place = this.#places.get(parentId) ?? TOP_LEVEL;
    this.#places.set(deptId, placeUnder({ key: deptId, ...place }));
    return Object.assign(dept, place);
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
    for await (const steps of this.#stepsSince())
      for (const step of steps) {
        if (this.#slices.isOver) await this.#slices.next();
        touched?.add(Number(step.resourceId));
        if (step.fields != null) this.#note(Number(step.resourceId), changeOf(step.fields));
      }
  }

  #note(deptId: number, { before, after }: ReturnType<typeof changeOf>): void {
    if (after?.parentId !== undefined) this.#come.set(after.parentId, this.#comeTo(after.parentId) + 1);
    // The earliest tells.
    if (this.#stood.has(deptId)) return;
    if (!before) this.#stood.set(deptId, null);
    else if (before.parentId !== undefined) this.#stood.set(deptId, before.parentId);
  }
}
