import fc from 'fast-check';
import type { ApiClient } from '../../src/server/testing';
import { DeptEntity } from '../../src/dept/dept.entity';
import { ChangeEntity } from '../../src/journal/change-log';
import { cursorNow, Follower } from '../support/follower';
import { SEEDED, times } from '../support/long-run';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { TwoServices } from '../support/two-services';

const DEPTS = '/system/dept-api';
const RUNS = times(32, 8);
const STEPS = 30;

type Fields = Record<string, unknown>;

/** Departments are named by their number in the program; some have been deleted, some never existed. */
const dept = fc.nat({ max: 10 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), under: dept, name: fc.string() }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('put' as const), dept, under: dept, name: fc.string() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('patch' as const),
      dept,
      phone: fc.option(fc.string({ maxLength: 5 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), dept, subtree: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const), dept }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('order' as const), under: dept }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('import' as const),
      names: fc.array(fc.constantFrom('a', 'b', 'a/c', 'b/c')),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function run(api: ApiClient, ids: number[], each: Step): Promise<void> {
  const idOf = (number: number): number => (number === 0 ? 0 : (ids[number - 1] ?? 900_000_000));
  switch (each.do) {
    case 'create': {
      const { headers } = await api.post(DEPTS, { parentId: idOf(each.under), deptName: each.name });
      if (headers.location !== undefined) ids.push(Number(headers.location.split('/').at(-1)));
      break;
    }
    case 'put':
      await api.put(DEPTS, { deptId: idOf(each.dept), parentId: idOf(each.under), deptName: each.name });
      break;
    case 'patch':
      await api.patch(`${DEPTS}/${idOf(each.dept)}`, { phone: each.phone });
      break;
    case 'delete':
      await api.delete(`${DEPTS}/${idOf(each.dept)}?subtree=${each.subtree}`);
      break;
    case 'restore':
      await api.post(`${DEPTS}/${idOf(each.dept)}/restore`, {});
      break;
    case 'order': {
      const { body } = await api.get(`${DEPTS}?parentId=${idOf(each.under)}`);
      const rows = (body.data as { rows?: { deptId: number }[] }).rows ?? [];
      await api.put(`${DEPTS}/order`, {
        parentId: idOf(each.under),
        deptIds: rows.map(({ deptId }) => deptId).toReversed(),
      });
      break;
    }
    case 'import': {
      const file = each.names.map((path) => JSON.stringify({ path, leader: path })).join('\n');
      await api.post(`${DEPTS}/import`, file, { 'content-type': 'application/x-ndjson' });
    }
  }
}

/** All departments as the API shows them, by id; what follows from parents and what cannot change is left out. */
async function stateOf(api: ApiClient): Promise<Map<string, Fields>> {
  const state = new Map<string, Fields>();
  for (let cursor = ''; ;) {
    const { body } = await api.get(`${DEPTS}?limit=500${cursor}`);
    const { rows, nextCursor } = body.data as { rows: Fields[]; nextCursor: string | null };
    for (const { deptId, ancestors: _, hasChildren: __, tenantId: ___, delFlag: ____, ...fields } of rows)
      state.set(String(deptId), fields);
    if (nextCursor === null) return state;
    cursor = `&cursor=${nextCursor}`;
  }
}

describe('a copy that follows the journal', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });

  it(`a copy that follows the journal equals the departments after random programs, from the beginning or from a snapshot (${RUNS} programs)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }),
        fc.nat({ max: STEPS }),
        async (program, snapshotAfter) => {
          const tenantId = await aTenantRow(service.dataSource);
          const api = service.as({ tenantId });
          const ids: number[] = [];
          for (const each of program.slice(0, snapshotAfter)) await run(api, ids, each);
          const late = new Follower(api, await cursorNow(api));
          for (const [id, fields] of await stateOf(api)) late.copy.set(`dept ${id}`, fields);
          for (const each of program.slice(snapshotAfter)) await run(api, ids, each);
          const state = await stateOf(api);
          const early = new Follower(api);
          for (const follower of [early, late]) {
            await follower.catchUp();
            expect(follower.problems).toEqual([]);
            expect(follower.of('dept')).toEqual(state);
          }
        },
      ),
      { numRuns: RUNS, ...SEEDED },
    );
  });
});

describe('followers while two processes write', () => {
  let two: TwoServices;

  beforeAll(async () => {
    two = await TwoServices.start();
  });
  afterAll(() => two.stop());

  it('followers skip nothing, and see nothing twice or out of order, while two processes write', async () => {
    const tenantId = await aTenantRow(two.dataSource);
    const [left, right] = two.as({ tenantId });
    let isOver = false;
    const follow = async (api: ApiClient): Promise<Follower> => {
      const follower = new Follower(api, undefined, { wait: 1 });
      while (!isOver) await follower.catchUp(5);
      return follower.catchUp(5);
    };
    const following = [follow(left), follow(right)];
    const write = async (api: ApiClient, n: number): Promise<void> => {
      const ids: number[] = [];
      for (const each of fc.sample(step, { numRuns: times(40, 10), seed: n })) await run(api, ids, each);
    };
    await Promise.all(Array.from({ length: 12 }, (_, n) => write(n % 2 ? left : right, n)));
    isOver = true;
    const written = await two.dataSource.manager.countBy(ChangeEntity, { tenantId });
    for (const follower of await Promise.all(following)) {
      expect(follower.problems).toEqual([]);
      expect(follower.changes).toHaveLength(written);
      expect(follower.of('dept')).toEqual(await stateOf(left));
    }
    const depts = await two.dataSource.manager.countBy(DeptEntity, { tenantId, delFlag: '0' });
    expect((await stateOf(right)).size).toBe(depts);
  });
});
