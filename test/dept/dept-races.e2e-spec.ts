import { createDataSource } from '../../src/database/data-source';
import { parseDatabaseUrl } from '../../src/config/database-url';
import type { DataSource } from 'typeorm';
import type { Answer, ApiClient } from '../support/api-client';
import { ChildService } from '../support/child-service';
import { aDept, aTenant } from '../support/seeds';
import { emptyDatabase, type TestDatabase } from '../support/test-database';
import { treeProblems } from '../support/tree-check';

const PATH = '/system/dept-api';
const ROUNDS = 200;

/** Two processes on one database: nothing in memory can keep them apart. */
describe('structural writes that race, from two processes', () => {
  let database: TestDatabase;
  let services: [ChildService, ChildService];
  let dataSource: DataSource;
  let tenantId: string;
  let left: ApiClient;
  let right: ApiClient;

  beforeAll(async () => {
    database = await emptyDatabase();
    services = [await ChildService.start(database), await ChildService.start(database)];
    dataSource = await (await createDataSource(parseDatabaseUrl(database.url))).initialize();
  });
  beforeEach(async () => {
    tenantId = await aTenant(dataSource);
    left = services[0].as({ tenantId });
    right = services[1].as({ tenantId });
  });
  afterAll(async () => {
    await dataSource.destroy();
    expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0]);
    await database.drop();
  });

  /** Runs a race many times; each answer must be one of those that a single caller could get. */
  async function race(
    round: (rounds: number) => Promise<Answer[]>,
    allowed: (string | null)[],
  ): Promise<string[]> {
    const outcomes: string[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      const answers = await round(n);
      const reasons = answers.map(({ status, refusal }) => (status === 200 ? null : refusal.reason));
      for (const reason of reasons) expect(allowed).toContain(reason);
      outcomes.push(reasons.join('|'));
    }
    expect(await treeProblems(dataSource, tenantId)).toEqual([]);
    return outcomes;
  }

  it('A under B while B under A: one of them wins', async () => {
    const outcomes = await race(async () => {
      const [a, b] = await Promise.all([aDept(left), aDept(right)]);
      return Promise.all([
        left.put(PATH, { deptId: a, parentId: b }),
        right.put(PATH, { deptId: b, parentId: a }),
      ]);
    }, [null, 'DEPT_CYCLE']);
    expect(new Set(outcomes)).toEqual(new Set(['|DEPT_CYCLE', 'DEPT_CYCLE|']));
  });

  it('a child is added while its parent is deleted: one of them wins', async () => {
    const outcomes = await race(async () => {
      const parentId = await aDept(left);
      return Promise.all([left.post(PATH, { parentId }), right.delete(`${PATH}/${parentId}`)]);
    }, [null, 'PARENT_NOT_FOUND', 'DEPT_HAS_CHILDREN']);
    expect(outcomes).not.toContain('|');
  });

  it('a department moves while its ancestor moves: both paths come out right', async () => {
    await race(async () => {
      const [top, other, third] = await Promise.all([aDept(left), aDept(right), aDept(left)]);
      const child = await aDept(left, { parentId: top });
      const grandchild = await aDept(left, { parentId: child });
      return Promise.all([
        left.put(PATH, { deptId: top, parentId: other }),
        right.put(PATH, { deptId: child, parentId: third }),
        right.post(PATH, { parentId: grandchild }),
      ]);
    }, [null]);
  });

  it('departments are deleted crosswise while others move under them: no orphan stays', async () => {
    await race(async () => {
      const [a, b, c, d] = await Promise.all([aDept(left), aDept(right), aDept(left), aDept(right)]);
      // Each process does its two in order, so the first two meet each other, and then the last two.
      return Promise.all([
        left.delete(`${PATH}/${a}`),
        right.put(PATH, { deptId: b, parentId: a }),
        left.put(PATH, { deptId: c, parentId: d }),
        right.delete(`${PATH}/${d}`),
      ]);
    }, [null, 'DEPT_HAS_CHILDREN', 'PARENT_NOT_FOUND']);
  });
});
