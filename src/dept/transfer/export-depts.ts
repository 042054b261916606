import { setImmediate as breathe } from 'node:timers/promises';
import type { Key } from '../../tenancy/scoped-table';
import { ancestorIds } from '../ancestor-ids';
import type { DeptReader, FileDept } from '../dept-reader.repository';
import { formatStep } from './dept-path';
import type { ExportedDept } from './file-format';

const PAGE = 1000;
/** So many parents with children of the same name are remembered; with more, every department is looked at. */
const MOST_PARENTS = 10_000;

/**
 * Reads the whole tree, parents before their children, a page at a time. It remembers only what the next page may need:
 * the steps above it, and which of the siblings it is in are not alone with their names.
 */
export class DeptExport {
  /** Steps of paths by department: those above the page at hand. */
  #steps = new Map<number, string>();
  /** The departments with children of the same name; null when there are too many to remember. */
  #parentsOfTwins: ReadonlySet<number> | null = new Set();
  #twins: { readonly parentId: number; readonly numbers: ReadonlyMap<number, number> } | undefined;

  constructor(private readonly depts: DeptReader) {}

  async *pages(): AsyncGenerator<ExportedDept[]> {
    const parents = await this.depts.findParentsOfTwins(MOST_PARENTS + 1);
    this.#parentsOfTwins = parents.length > MOST_PARENTS ? null : new Set(parents);
    let keys: Key[] = await this.depts.findTreeKeys(null, PAGE);
    while (keys.length > 0) {
      const next = keys.length < PAGE ? null : this.depts.findTreeKeys(keys.at(-1) ?? null, PAGE);
      // It is waited for below; a failure until then must not count as nobody's.
      next?.catch(() => undefined);
      yield await this.#read(keys.map((key) => Number(key.at(-1))));
      // SQLite answers at once: without a turn for others nobody would be served until the end.
      await breathe();
      keys = (await next) ?? [];
    }
  }

  async #read(deptIds: readonly number[]): Promise<ExportedDept[]> {
    const rows = await this.depts.findLines(deptIds);
    await this.#learnStepsAbove(rows);
    const lines: ExportedDept[] = [];
    for (const row of rows) {
      const above = ancestorIds(row).map((deptId) => this.#steps.get(deptId));
      // What was moved or deleted between two reads has no path any more.
      if (above.includes(undefined)) continue;
      const { deptName: name, orderNum, leader, phone, email, status } = row;
      const step = formatStep({ name, nth: await this.#numberOf(row) });
      lines.push({ path: [...above, step].join('/'), orderNum, leader, phone, email, status });
    }
    return lines;
  }

  async #learnStepsAbove(rows: readonly FileDept[]): Promise<void> {
    const needed = new Set(rows.flatMap((row) => ancestorIds(row)));
    this.#steps = new Map([...this.#steps].filter(([deptId]) => needed.has(deptId)));
    const missing = [...needed].filter((deptId) => !this.#steps.has(deptId));
    for (const dept of await this.depts.findLines(missing)) {
      const nth = this.#mayHaveTwins(dept) ? (await this.depts.countTwinsBefore(dept)) + 1 : 1;
      this.#steps.set(dept.deptId, formatStep({ name: dept.deptName, nth }));
    }
  }

  #mayHaveTwins({ parentId }: FileDept): boolean {
    return this.#parentsOfTwins?.has(parentId) ?? true;
  }

  /** Which of the siblings of the same name it is. Siblings come one after the other, so each set is read once. */
  async #numberOf(dept: FileDept): Promise<number> {
    if (!this.#mayHaveTwins(dept)) return 1;
    if (this.#twins?.parentId !== dept.parentId) {
      this.#twins = { parentId: dept.parentId, numbers: number(await this.depts.findTwins(dept.parentId)) };
    }
    return this.#twins.numbers.get(dept.deptId) ?? 1;
  }
}

/** Numbers the departments of each name in the order in which they were made. */
function number(twins: readonly Pick<FileDept, 'deptId' | 'deptName'>[]): Map<number, number> {
  const counts = new Map<string, number>();
  const numbers = new Map<number, number>();
  for (const { deptId, deptName } of twins.toSorted((a, b) => a.deptId - b.deptId)) {
    const count = (counts.get(deptName) ?? 0) + 1;
    counts.set(deptName, count);
    numbers.set(deptId, count);
  }
  return numbers;
}
