import type { Key } from '../../tenancy/scoped-table';
import { ancestorIds } from '../ancestor-ids';
import type { DeptReader, FileDept } from '../dept-reader.repository';
import { formatStep } from './dept-path';
import type { ExportedDept } from './file-format';

const PAGE = 1000;
/** So many parents with children of the same name are remembered; with more, every department is looked at. */
const MOST_PARENTS = 10_000;

interface ReadPage {
  readonly rows: readonly FileDept[];
  /** Of the rows, and of what is above them, those that have a sibling of the same name. */
  readonly twins: ReadonlySet<number>;
  readonly above: readonly FileDept[];
}

/**
 * Reads the whole tree, parents before their children, a page at a time. It remembers only what the next page may need:
 * the steps above it, and which names have come twice among the siblings it is in.
 */
export class DeptExport {
  /** Steps of paths by department: those above the page at hand. */
  #steps = new Map<number, string>();
  #parentId = -1;
  /** How often each name that is not alone has come among the children of `#parentId`. */
  #counts = new Map<string, number>();
  /** The departments with children of the same name; null when there are too many to remember. */
  #parentsOfTwins: ReadonlySet<number> | null = new Set();

  constructor(private readonly depts: DeptReader) {}

  async *pages(): AsyncGenerator<ExportedDept[]> {
    const parents = await this.depts.findParentsOfTwins(MOST_PARENTS + 1);
    this.#parentsOfTwins = parents.length > MOST_PARENTS ? null : new Set(parents);
    let keys: Key[] = await this.depts.findTreeKeys(null, PAGE);
    while (keys.length > 0) {
      const next = keys.length < PAGE ? null : this.depts.findTreeKeys(keys.at(-1) ?? null, PAGE);
      // It is waited for below; a failure until then must not count as nobody's.
      next?.catch(() => undefined);
      yield await this.#format(await this.#read(keys.map((key) => Number(key.at(-1)))));
      keys = (await next) ?? [];
    }
  }

  async #read(deptIds: readonly number[]): Promise<ReadPage> {
    const rows = await this.depts.findLines(deptIds);
    const needed = new Set(rows.flatMap(ancestorIdsOf));
    this.#steps = new Map([...this.#steps].filter(([deptId]) => needed.has(deptId)));
    const above = await this.depts.findLines([...needed].filter((deptId) => !this.#steps.has(deptId)));
    const suspects = [...rows, ...above].filter(
      ({ parentId }) => this.#parentsOfTwins?.has(parentId) ?? true,
    );
    const twins = new Set(await this.depts.findTwins(suspects.map(({ deptId }) => deptId)));
    return { rows, twins, above };
  }

  async #format({ rows, twins, above }: ReadPage): Promise<ExportedDept[]> {
    for (const dept of above) {
      const nth = twins.has(dept.deptId) ? (await this.depts.countTwinsBefore(dept)) + 1 : 1;
      this.#steps.set(dept.deptId, formatStep({ name: dept.deptName, nth }));
    }
    return rows.map((row) => {
      const { deptName: name, orderNum, leader, phone, email, status } = row;
      const steps = ancestorIdsOf(row).map((deptId) => this.#steps.get(deptId) ?? '');
      const step = formatStep({ name, nth: twins.has(row.deptId) ? this.#count(row) : 1 });
      return { path: [...steps, step].join('/'), orderNum, leader, phone, email, status };
    });
  }

  /** Siblings come one after the other, in their order. */
  #count({ parentId, deptName }: FileDept): number {
    if (parentId !== this.#parentId) {
      this.#parentId = parentId;
      this.#counts.clear();
    }
    const count = (this.#counts.get(deptName) ?? 0) + 1;
    this.#counts.set(deptName, count);
    return count;
  }
}

function ancestorIdsOf(dept: FileDept): number[] {
  return ancestorIds(dept);
}
