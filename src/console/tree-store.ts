/** A row of a tree as it is seen. */
export interface SeenRow<Id, Row> {
  readonly id: Id;
  readonly row: Row;
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  /** Undefined where nothing is below it. */
  readonly isOpen: boolean | undefined;
}

/** Some rows with their places among each other. */
export class Branch<Id, Row> {
  readonly rows = new Map<Id, Row>();
  /** The ids right below one. What is not in it was not loaded. */
  readonly below = new Map<Id, readonly Id[]>();
  readonly open = new Set<Id>();
}

/** The part of a tree that was loaded, and what of it is open and chosen. */
export abstract class TreeStore<Id extends string | number, Row extends { readonly hasChildren: boolean }> {
  protected all = new Branch<Id, Row>();
  /** Matches with what is above them, while there is something to search for. */
  protected found: Branch<Id, Row> | null = null;
  readonly #listeners = new Set<() => void>();
  /** Grows with each change. */
  version = 0;
  selected: Id | null = null;
  problem: unknown = null;

  /** The id above the uppermost rows. */
  constructor(readonly root: Id) {}

  protected abstract idOf(row: Row): Id;
  protected abstract readBelow(id: Id): Promise<readonly Row[]>;

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isLoaded(): boolean {
    return this.all.below.has(this.root);
  }

  get isSearching(): boolean {
    return this.found !== null;
  }

  row(id: Id): Row | undefined {
    return this.all.rows.get(id) ?? this.found?.rows.get(id);
  }

  children(id: Id): Row[] {
    const { rows, below } = this.found ?? this.all;
    return (below.get(id) ?? []).flatMap((each) => rows.get(each) ?? []);
  }

  isOpen(id: Id): boolean {
    const { open, below } = this.found ?? this.all;
    return open.has(id) && below.has(id);
  }

  /** All rows that are seen, from the top down. */
  seen(): SeenRow<Id, Row>[] {
    const seen: SeenRow<Id, Row>[] = [];
    const add = (parent: Id, level: number): void => {
      const rows = this.children(parent);
      for (const [at, row] of rows.entries()) {
        const id = this.idOf(row);
        const isOpen = row.hasChildren ? this.isOpen(id) : undefined;
        seen.push({ id, row, level, position: at + 1, siblings: rows.length, isOpen });
        if (isOpen) add(id, level + 1);
      }
    };
    add(this.root, 1);
    return seen;
  }

  async toggle(id: Id, open = !this.isOpen(id)): Promise<void> {
    const branch = this.found ?? this.all;
    if (!open) branch.open.delete(id);
    else if (branch.below.has(id)) branch.open.add(id);
    else await this.guarded(async () => this.put(branch, id, await this.readBelow(id)));
    this.changed();
  }

  closeAll(): void {
    (this.found ?? this.all).open.clear();
    this.changed();
  }

  select(id: Id | null): void {
    this.selected = id;
    this.changed();
  }

  /** Keeps rows as those below one, which is open then. */
  protected put(branch: Branch<Id, Row>, parent: Id, rows: readonly Row[]): void {
    for (const row of rows) branch.rows.set(this.idOf(row), row);
    branch.below.set(
      parent,
      rows.map((row) => this.idOf(row)),
    );
    branch.open.add(parent);
  }

  protected async guarded(work: () => Promise<void>): Promise<void> {
    this.problem = null;
    await work().catch((error: unknown) => (this.problem = error));
    this.changed();
  }

  protected changed(): void {
    this.version += 1;
    for (const listener of this.#listeners) listener();
  }
}
