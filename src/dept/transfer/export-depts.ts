import { setImmediate as breathe } from 'node:timers/promises';
import { ancestorIds } from '../ancestor-ids';
import type { DeptReader, FileDept } from '../dept-reader.repository';
import { formatStep } from './dept-path';
import type { ExportedDept } from './file-format';

/** Pages grow from small ones, which let others have their turns soon, to large ones, which cost the least. */
const FIRST_PAGE = 500;
const LARGEST_PAGE = 2000;
/** So many parents with children of the same name are remembered; with more, every department is looked at. */
const MOST_PARENTS = 10_000;

/** What the paths of a page need. */
interface Surroundings {
  /** Steps of paths by department: those above the rows. */
  readonly steps: ReadonlyMap<number, string>;
  /** By parent, the numbers of those children that are not alone with their names. */
  readonly twins: ReadonlyMap<number, ReadonlyMap<number, number>>;
}

/**
 * Reads the whole tree, parents before their children, a page at a time. It remembers only what the next page may need:
 * the steps above it, and which of the siblings it is in are not alone with their names.
 */
export class DeptExport {
  /** The departments with children of the same name; null when there are too many to remember. */
  #parentsOfTwins: ReadonlySet<number> | null = new Set();

  constructor(private readonly depts: DeptReader) {}

  async *pages(): AsyncGenerator<ExportedDept[]> {
    const parents = await this.depts.findParentsOfTwins(MOST_PARENTS + 1);
    this.#parentsOfTwins = parents.length > MOST_PARENTS ? null : new Set(parents);
    let around: Surroundings = { steps: new Map(), twins: new Map() };
    let size = FIRST_PAGE;
    let rows = await this.depts.findNextLines(undefined, size);
    while (rows.length > 0) {
      const isLast = rows.length < size;
      size = Math.min(2 * size, LARGEST_PAGE);
      // The database works on the next page while this one is completed and written.
      const next = isLast ? [] : this.depts.findNextLines(rows.at(-1), size);
      // It is waited for below; a failure until then must not count as nobody's.
      if (next instanceof Promise) next.catch(() => undefined);
      around = await this.#lookAround(rows, around);
      yield toLines(rows, around);
      // SQLite answers at once: without a turn for others nobody would be served until the end.
      await breathe();
      rows = await next;
    }
  }

  async #lookAround(rows: readonly FileDept[], before: Surroundings): Promise<Surroundings> {
    // Siblings stand together: one of them speaks for all.
    const families = rows.filter((row, at) => row.parentId !== rows[at - 1]?.parentId);
    return {
      steps: await this.#findSteps(families, before.steps),
      twins: await this.#findTwins(families, before.twins),
    };
  }

  async #findSteps(
    families: readonly FileDept[],
    known: Surroundings['steps'],
  ): Promise<ReadonlyMap<number, string>> {
    const needed = new Set(families.flatMap((dept) => ancestorIds(dept)));
    const steps = new Map([...known].filter(([deptId]) => needed.has(deptId)));
    for (const dept of await this.depts.findLines([...needed].filter((deptId) => !steps.has(deptId)))) {
      const nth = this.#mayHaveTwins(dept) ? (await this.depts.countTwinsBefore(dept)) + 1 : 1;
      steps.set(dept.deptId, formatStep({ name: dept.deptName, nth }));
    }
    return steps;
  }

  async #findTwins(
    families: readonly FileDept[],
    known: Surroundings['twins'],
  ): Promise<Surroundings['twins']> {
    const twins = new Map<number, ReadonlyMap<number, number>>();
    for (const dept of families) {
      if (!this.#mayHaveTwins(dept)) continue;
      const { parentId } = dept;
      twins.set(parentId, known.get(parentId) ?? number(await this.depts.findTwins(parentId)));
    }
    return twins;
  }

  #mayHaveTwins({ parentId }: FileDept): boolean {
    return this.#parentsOfTwins?.has(parentId) ?? true;
  }
}

function toLines(rows: readonly FileDept[], { steps, twins }: Surroundings): ExportedDept[] {
  const lines: ExportedDept[] = [];
  let ancestors: string | undefined;
  let above: string | null = null;
  for (const row of rows) {
    if (row.ancestors !== ancestors) {
      ({ ancestors } = row);
      above = pathAbove(row, steps);
    }
    // What was moved or deleted between two reads has no path any more.
    if (above === null) continue;
    const nth = twins.get(row.parentId)?.get(row.deptId) ?? 1;
    const path = above + formatStep({ name: row.deptName, nth });
    const { orderNum, leader, phone, email, status } = row;
    lines.push({ path, orderNum, leader, phone, email, status });
  }
  return lines;
}

/** All that stands before a department's own step; null when some of it is not known. */
function pathAbove(dept: FileDept, steps: Surroundings['steps']): string | null {
  const above = ancestorIds(dept).map((deptId) => steps.get(deptId));
  return above.includes(undefined) ? null : above.map((step) => `${step ?? ''}/`).join('');
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
