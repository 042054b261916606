import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ancestorIds } from '../ancestor-ids';
import type { DeptReader, FileDept, TreePlace } from '../dept-reader.repository';
import { formatStep } from './dept-path';
import type { ExportedDept } from './file-format';

/** Pages grow from small ones, which let others have their turns soon, to large ones, which cost the least. */
const FIRST_PAGE = 500;
const LARGEST_PAGE = 4000;

/** The departments below one parent, or those of them that are in a page: in the order of the tree they stand together. */
type Family = readonly FileDept[];

/** By department, its number among the siblings that have its name; who is alone with its name is not in it. */
type Numbers = ReadonlyMap<number, number>;

/** Some departments in the order of the tree. */
interface Stretch {
  readonly families: readonly Family[];
  /** Where the next one begins: after a family, or in the midst of one; null at the end of the tree. */
  readonly end: TreePlace | null;
}

/** A family that is too large to be seen as a whole: who has which number in it was looked up. */
interface LargeFamily {
  readonly parentId: number;
  readonly numbers: Numbers;
}

/**
 * Reads the whole tree, parents before their children, a page at a time. It remembers only what the next page may need:
 * the steps above it and, when a family is too large for one page, the numbers of those with the same name in it.
 */
export class DeptExport {
  #steps: ReadonlyMap<number, string> = new Map();
  #large: LargeFamily | null = null;

  constructor(private readonly depts: DeptReader) {}

  async *pages(): AsyncGenerator<ExportedDept[], void> {
    let size = FIRST_PAGE;
    let stretch: Stretch | null = await this.#read(null, size);
    while (stretch) {
      size = Math.min(2 * size, LARGEST_PAGE);
      // The database works on the next page while this one is completed and written.
      const next: Promise<Stretch> | null = stretch.end && this.#read(stretch.end, size);
      // It is waited for below; a failure until then must not count as nobody's.
      next?.catch(() => undefined);
      yield await this.#toLines(stretch);
      // SQLite answers at once: without a turn for others nobody would be served until the end.
      await yieldToEventLoop();
      stretch = await next;
    }
  }

  /** Ends where a family ends, as long as that leaves most of what was read. */
  async #read(after: TreePlace | null, limit: number): Promise<Stretch> {
    const rows = await this.depts.findNextLines(after, limit);
    const families = familiesOf(rows);
    const last = rows.at(-1);
    if (!last || rows.length < limit) return { families, end: null };
    const [before] = families.at(-2) ?? [];
    const cut = families.at(-1)?.length ?? 0;
    return before && cut < limit / 2
      ? { families: families.slice(0, -1), end: [before.ancestors] }
      : { families, end: [last.ancestors, last.orderNum, last.deptId] };
  }

  async #toLines({ families, end }: Stretch): Promise<ExportedDept[]> {
    this.#steps = await this.#findSteps(families);
    const lines: ExportedDept[] = [];
    for (const family of families) {
      const isCut = end?.length === 3 && family === families.at(-1);
      addLines(lines, family, this.#steps, await this.#findNumbers(family, isCut));
    }
    return lines;
  }

  async #findSteps(families: readonly Family[]): Promise<ReadonlyMap<number, string>> {
    const needed = new Set(families.flatMap(([dept]) => (dept ? ancestorIds(dept) : [])));
    const steps = new Map([...this.#steps].filter(([deptId]) => needed.has(deptId)));
    const missing = [...needed].filter((deptId) => !steps.has(deptId));
    const younger = new Set(await this.depts.findYoungerTwins(missing));
    for (const dept of await this.depts.findLines(missing)) {
      const nth = younger.has(dept.deptId) ? (await this.depts.countTwinsBefore(dept)) + 1 : 1;
      steps.set(dept.deptId, formatStep({ name: dept.deptName, nth }));
    }
    return steps;
  }

  /** A family that is here as a whole can be numbered as it is. */
  async #findNumbers(family: Family, isCut: boolean): Promise<Numbers> {
    const parentId = family[0]?.parentId ?? 0;
    if (this.#large?.parentId === parentId) return this.#large.numbers;
    if (!isCut) return numberTwins(family);
    this.#large = { parentId, numbers: numberTwins(await this.depts.findTwins(parentId)) };
    return this.#large.numbers;
  }
}

function familiesOf(rows: readonly FileDept[]): Family[] {
  const families: FileDept[][] = [];
  let ancestors: string | undefined;
  for (const row of rows) {
    if (row.ancestors !== ancestors) families.push([]);
    ({ ancestors } = row);
    families.at(-1)?.push(row);
  }
  return families;
}

function addLines(
  lines: ExportedDept[],
  family: Family,
  steps: ReadonlyMap<number, string>,
  numbers: Numbers,
): void {
  const above = family[0] ? pathAbove(family[0], steps) : null;
  // What was moved or deleted between two reads has no path any more.
  if (above === null) return;
  for (const { deptId, deptName: name, orderNum, leader, phone, email, status } of family) {
    const path = above + formatStep({ name, nth: numbers.get(deptId) ?? 1 });
    lines.push({ path, orderNum, leader, phone, email, status });
  }
}

/** All that stands before a department's own step; null when some of it is not known. */
function pathAbove(dept: FileDept, steps: ReadonlyMap<number, string>): string | null {
  const above = ancestorIds(dept).map((deptId) => steps.get(deptId));
  return above.includes(undefined) ? null : above.map((step) => `${step ?? ''}/`).join('');
}

/** Numbers the departments of each name in the order in which they were made. */
function numberTwins(family: readonly Pick<FileDept, 'deptId' | 'deptName'>[]): Numbers {
  const numbers = new Map<number, number>();
  // Nearly always nobody has the name of another.
  if (new Set(family.map(({ deptName }) => deptName)).size === family.length) return numbers;
  const counts = new Map<string, number>();
  for (const { deptId, deptName } of family.toSorted((a, b) => a.deptId - b.deptId)) {
    const count = (counts.get(deptName) ?? 0) + 1;
    counts.set(deptName, count);
    numbers.set(deptId, count);
  }
  return numbers;
}
