import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { TimeSlices } from '../../time/time-slices';
import { pick } from '../../resource/fields';
import { ancestorIds, DEPT_DETAILS } from '../dept.entity';
import type { DeptReader, FileDept } from '../dept-reader.repository';
import type { ScopedDepts } from '../scoped-depts';
import { formatStep } from './dept-line';
import type { ExportedDept } from './file-format';

/** Rows of one statement: drivers make objects of them in one go. */
const ROWS = 250;
/** More siblings than these are cut. */
const SIBLINGS = 1000;

/** The children of one department, or those of them that are in a page. The order of the tree keeps them together. */
interface SiblingGroup {
  readonly parentId: number;
  readonly ancestors: string;
  readonly depts: FileDept[];
}

/** By department, its number among the siblings with its name; departments whose name is unique are not in it. */
type Numbers = ReadonlyMap<number, number>;

interface Page {
  readonly groups: readonly SiblingGroup[];
  /** Whether more of the last group follows on the next page. */
  readonly isCut: boolean;
  /** What was read of the group after these, which comes first on the next page; null at the end of the tree. */
  readonly rest: readonly FileDept[] | null;
}

/** Reads the whole tree, parents before their children, a page at a time, in bounded memory. */
export class DeptExport {
  /** The path steps of the ancestors of the current page. */
  #steps: ReadonlyMap<number, string> = new Map();
  /** The numbers in the last group that did not fit into one page. */
  #cut: { readonly parentId: number; readonly numbers: Numbers } | null = null;

  /** The last department that was read. */
  #last: FileDept | undefined;

  readonly #slices = new TimeSlices();

  /** With a data scope, only what a picker shows of it. */
  constructor(
    private readonly depts: DeptReader,
    private readonly scope?: ScopedDepts,
  ) {}

  async *pages(): AsyncGenerator<ExportedDept[], void> {
    let page: Page | null = await this.#read([]);
    while (page) {
      // The database reads the next page while this one is completed and sent.
      const next: Promise<Page> | null = page.rest && this.#read(page.rest);
      // It is awaited below; a failure until then must not count as unhandled.
      next?.catch(() => undefined);
      if (page.groups.length > 0) yield await this.#toLines(page);
      // SQLite answers at once: without this, nothing else would run until the end.
      await yieldToEventLoop();
      page = await next;
    }
  }

  /** A page ends where a group ends, unless the group is too large. */
  async #read(rest: readonly FileDept[]): Promise<Page> {
    const found = await this.depts.findNextForFile(this.#last, ROWS);
    this.#last = found.at(-1);
    const groups = groupSiblings([...rest, ...found]);
    if (found.length < ROWS) return { groups, isCut: false, rest: null };
    const last = groups.at(-1)?.depts ?? [];
    const isCut = groups.length === 1 && last.length >= SIBLINGS;
    return isCut ? { groups, isCut, rest: [] } : { groups: groups.slice(0, -1), isCut, rest: last };
  }

  async #toLines({ groups, isCut }: Page): Promise<ExportedDept[]> {
    this.#steps = await this.#findSteps(groups);
    const lines: ExportedDept[] = [];
    for (const group of groups) {
      const numbers = await this.#findNumbers(group, isCut && group === groups.at(-1));
      const above = ancestorIds(group).map((deptId) => this.#steps.get(deptId));
      // A department that was moved or deleted between two reads has no path.
      if (above.includes(undefined)) continue;
      const prefix = above.map((step) => `${step ?? ''}/`).join('');
      for (const dept of group.depts) {
        const { deptId, parentId, deptName: name } = dept;
        if (this.#slices.isOver) await this.#slices.next();
        if (this.scope?.shows(dept) === false) continue;
        const path = prefix + formatStep({ name, nth: numbers.get(deptId) ?? 1 });
        lines.push(Object.assign({ deptId, parentId, path }, pick(dept, DEPT_DETAILS)));
      }
    }
    return lines;
  }

  async #findSteps(groups: readonly SiblingGroup[]): Promise<ReadonlyMap<number, string>> {
    const needed = new Set(groups.flatMap((group) => ancestorIds(group)));
    const steps = new Map([...this.#steps].filter(([deptId]) => needed.has(deptId)));
    const missing = [...needed].filter((deptId) => !steps.has(deptId));
    const numbered = new Set(await this.depts.findNumbered(missing));
    for (const dept of await this.depts.findForFile(missing)) {
      const nth = numbered.has(dept.deptId) ? (await this.depts.countSameNamedBefore(dept)) + 1 : 1;
      steps.set(dept.deptId, formatStep({ name: dept.deptName, nth }));
    }
    return steps;
  }

  async #findNumbers({ parentId, depts }: SiblingGroup, isCut: boolean): Promise<Numbers> {
    if (this.#cut?.parentId === parentId) return this.#cut.numbers;
    if (!isCut) return numberSameNamed(depts);
    this.#cut = { parentId, numbers: numberSameNamed(await this.depts.findSameNamed(parentId)) };
    return this.#cut.numbers;
  }
}

function groupSiblings(rows: readonly FileDept[]): SiblingGroup[] {
  const groups: SiblingGroup[] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last?.ancestors === row.ancestors) last.depts.push(row);
    else groups.push({ parentId: row.parentId, ancestors: row.ancestors, depts: [row] });
  }
  return groups;
}

/** Numbers the departments of each name in the order of their ids. */
function numberSameNamed(siblings: readonly Pick<FileDept, 'deptId' | 'deptName'>[]): Numbers {
  const numbers = new Map<number, number>();
  // Nearly always all names differ.
  if (new Set(siblings.map(({ deptName }) => deptName)).size === siblings.length) return numbers;
  const counts = new Map<string, number>();
  for (const { deptId, deptName } of siblings.toSorted((a, b) => a.deptId - b.deptId)) {
    const count = (counts.get(deptName) ?? 0) + 1;
    counts.set(deptName, count);
    numbers.set(deptId, count);
  }
  return numbers;
}
