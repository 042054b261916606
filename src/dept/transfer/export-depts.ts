import type { Key } from '../../tenancy/scoped-table';
import { ancestorIds } from '../ancestor-ids';
import type { DeptEntity } from '../dept.entity';
import type { DeptReader } from '../dept-reader.repository';
import { formatStep } from './dept-path';
import type { ExportedDept } from './file-format';

const PAGE = 900;

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

  constructor(private readonly depts: DeptReader) {}

  async *pages(): AsyncGenerator<ExportedDept[]> {
    for (let after: Key | null = null; ;) {
      const keys: Key[] = await this.depts.findTreeKeys(after, PAGE);
      const page = await this.#read(keys.map((key) => Number(key.at(-1))));
      if (page.length > 0) yield page;
      if (keys.length < PAGE) return;
      after = keys.at(-1) ?? null;
    }
  }

  async #read(deptIds: readonly number[]): Promise<ExportedDept[]> {
    const found = new Map((await this.depts.findMany(deptIds)).map((dept) => [dept.deptId, dept]));
    const rows = deptIds.flatMap((deptId) => found.get(deptId) ?? []);
    const twins = new Set(await this.depts.findTwins(deptIds));
    await this.#learnStepsAbove(rows);
    return rows.map((row) => {
      const above = ancestorIds(row).map((deptId) => this.#steps.get(deptId) ?? '');
      const { orderNum, leader, phone, email, status } = row;
      const step = formatStep({ name: row.deptName, nth: twins.has(row.deptId) ? this.#count(row) : 1 });
      return { path: [...above, step].join('/'), orderNum, leader, phone, email, status };
    });
  }

  /** Siblings come one after the other, in their order. */
  #count({ parentId, deptName }: DeptEntity): number {
    if (parentId !== this.#parentId) {
      this.#parentId = parentId;
      this.#counts.clear();
    }
    const count = (this.#counts.get(deptName) ?? 0) + 1;
    this.#counts.set(deptName, count);
    return count;
  }

  async #learnStepsAbove(rows: readonly DeptEntity[]): Promise<void> {
    const needed = new Set(rows.flatMap((row) => ancestorIds(row)));
    this.#steps = new Map([...this.#steps].filter(([deptId]) => needed.has(deptId)));
    const missing = [...needed].filter((deptId) => !this.#steps.has(deptId));
    const twins = new Set(await this.depts.findTwins(missing));
    for (const dept of await this.depts.findMany(missing)) {
      const nth = twins.has(dept.deptId) ? (await this.depts.countTwinsBefore(dept)) + 1 : 1;
      this.#steps.set(dept.deptId, formatStep({ name: dept.deptName, nth }));
    }
  }
}
