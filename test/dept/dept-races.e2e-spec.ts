import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { aTenantRow } from '../support/seeds';
import { onServer } from '../support/test-database';
import { treeProblems } from '../support/tree-check';
import { TwoServices } from '../support/two-services';
import { times } from '../support/long-run';

const PATH = '/system/dept-api';
const ROUNDS = times(200, 32);
/** SQLite has one writer, whatever the tenant. */
const LANES = onServer ? 4 : 1;

describe('structural writes that race, from two processes', () => {
  let two: TwoServices;

  beforeAll(async () => {
    two = await TwoServices.start();
  });
  afterAll(() => two.stop());

  type Round = (left: ApiClient, right: ApiClient) => Promise<Answer[]>;

  /** Runs a race many times, in several tenants side by side; each answer must be one that a single caller could get. */
  async function race(round: Round, allowed: (string | null)[]): Promise<string[]> {
    const lane = async (): Promise<string[]> => {
      const tenantId = await aTenantRow(two.dataSource);
      const [left, right] = two.as({ tenantId });
      const outcomes: string[] = [];
      for (let n = 0; n < ROUNDS / LANES; n += 1) {
        const answers = await round(left, right);
        const reasons = answers.map(({ status, refusal }) => (status === 200 ? null : refusal.reason));
        for (const reason of reasons) expect(allowed).toContain(reason);
        outcomes.push(reasons.join('|'));
      }
      expect(await treeProblems(two.dataSource, tenantId)).toEqual([]);
      return outcomes;
    };
    return (await Promise.all(Array.from({ length: LANES }, lane))).flat();
  }

  it('A under B while B under A: one of them wins', async () => {
    const outcomes = await race(
      async (left, right) => {
        const [a, b] = await Promise.all([aDept(left), aDept(right)]);
        return Promise.all([
          left.put(PATH, { deptId: a, parentId: b }),
          right.put(PATH, { deptId: b, parentId: a }),
        ]);
      },
      [null, 'DEPT_CYCLE'],
    );
    for (const outcome of new Set(outcomes)) expect(['|DEPT_CYCLE', 'DEPT_CYCLE|']).toContain(outcome);
  });

  it('a child is added while its parent is deleted: one of them wins', async () => {
    const outcomes = await race(
      async (left, right) => {
        const parentId = await aDept(left);
        return Promise.all([left.post(PATH, { parentId }), right.delete(`${PATH}/${parentId}`)]);
      },
      [null, 'PARENT_NOT_FOUND', 'DEPT_HAS_CHILDREN'],
    );
    expect(outcomes).not.toContain('|');
  });

  it('a department moves while its ancestor moves: both paths come out right', async () => {
    await race(
      async (left, right) => {
        const [top, other, third] = await Promise.all([aDept(left), aDept(right), aDept(left)]);
        const child = await aDept(left, { parentId: top });
        const grandchild = await aDept(left, { parentId: child });
        return Promise.all([
          left.put(PATH, { deptId: top, parentId: other }),
          right.put(PATH, { deptId: child, parentId: third }),
          right.post(PATH, { parentId: grandchild }),
        ]);
      },
      [null],
    );
  });

  it('departments are deleted crosswise while others move under them: no orphan stays', async () => {
    await race(
      async (left, right) => {
        const [a, b, c, d] = await Promise.all([aDept(left), aDept(right), aDept(left), aDept(right)]);
        // Each process does its two in order, so the first two meet each other, and then the last two.
        return Promise.all([
          left.delete(`${PATH}/${a}`),
          right.put(PATH, { deptId: b, parentId: a }),
          left.put(PATH, { deptId: c, parentId: d }),
          right.delete(`${PATH}/${d}`),
        ]);
      },
      [null, 'DEPT_HAS_CHILDREN', 'PARENT_NOT_FOUND'],
    );
  });
});
