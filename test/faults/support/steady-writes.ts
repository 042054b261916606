import type { DataSource } from 'typeorm';
import { DeptEntity } from '../../../src/dept/dept.entity';
import type { ApiClient } from '../../../src/server/testing';

const PATH = '/system/dept-api';

/** Some clients that make departments without a pause, each below the one before, and know which were acknowledged. */
export class SteadyWrites {
  readonly #acknowledged: number[] = [];
  readonly #clients: Promise<void>[];
  #isOver = false;

  constructor(api: ApiClient, clients = 3) {
    this.#clients = Array.from({ length: clients }, () => this.#write(api));
  }

  /** What has been acknowledged by now. */
  get acknowledged(): readonly number[] {
    return [...this.#acknowledged];
  }

  async untilMore(count: number): Promise<void> {
    const goal = this.#acknowledged.length + count;
    while (this.#acknowledged.length < goal) {
      await Promise.race([...this.#clients, new Promise((resolve) => setTimeout(resolve, 10))]);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #write(api: ApiClient): Promise<void> {
    for (let n = 0, parentId = 0; !this.#isOver; n += 1) {
      const { status, headers, text } = await api.post(PATH, { deptName: `dept ${n}`, parentId });
      if (status !== 200) throw new Error(`A department was not made: ${text}`);
      const { location = '' } = headers;
      const deptId = Number(location.slice(location.lastIndexOf('/') + 1));
      this.#acknowledged.push(deptId);
      parentId = n % 20 === 0 ? 0 : deptId;
    }
  }
}

/** Which of these departments are not in this database. */
export async function missing(dataSource: DataSource, deptIds: readonly number[]): Promise<number[]> {
  const rows = await dataSource.manager.find(DeptEntity, { select: { deptId: true } });
  const there = new Set(rows.map(({ deptId }) => deptId));
  return deptIds.filter((deptId) => !there.has(deptId));
}
