import fc from 'fast-check';
import { DeptEntity } from '../../src/dept/dept.entity';
import type { ApiClient } from '../../src/server/testing';
import { DeptModel } from '../support/dept-model';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { treeProblems } from '../support/tree-check';
import { SEEDED, times } from '../support/long-run';

const PATH = '/system/dept-api';
const RUNS = times(160, 16);
const STEPS = 40;
/** Programs that run side by side, each in a tenant of its own. */
const LANES = 4;

/** Departments are named by their number in the program, because ids are not known before it runs. */
type Step =
  | { readonly kind: 'create'; readonly under: number; readonly status: '0' | '1' }
  | { readonly kind: 'move'; readonly dept: number; readonly under: number; readonly status: '0' | '1' }
  | { readonly kind: 'delete'; readonly depts: readonly number[] }
  | { readonly kind: 'delete tree'; readonly dept: number }
  | { readonly kind: 'restore'; readonly dept: number };

const dept = fc.nat({ max: 12 });
const status = fc.constantFrom<('0' | '1')[]>('0', '0', '0', '1');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), under: dept, status }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), dept, under: dept, status }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      depts: fc.array(dept, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete tree' as const), dept }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), dept }) },
);

describe('random programs of create, move, delete and restore', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });

  it(`random programs of departments answer as a plain model does, and leave the same tree (${RUNS} programs of ${STEPS} steps)`, async () => {
    const lane = (_: unknown, n: number) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }),
          async (program) => {
            const tenantId = await aTenantRow(service.dataSource);
            const api = service.as({ tenantId });
            const model = new DeptModel();
            for (const each of program) await runStep(api, model, each);
            const rows = await service.dataSource.manager.findBy(DeptEntity, { tenantId });
            const stored = rows.map(
              (row) => [row.deptId, row.delFlag === '0' ? row.ancestors : null] as const,
            );
            expect(new Map(stored)).toEqual(new Map(model.ids().map((id) => [id, model.path(id)])));
          },
        ),
        { numRuns: RUNS / LANES, ...(SEEDED.seed !== undefined && { seed: SEEDED.seed + n }) },
      );
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(await treeProblems(service.dataSource)).toEqual([]);
  });
});

async function runStep(api: ApiClient, model: DeptModel, each: Step): Promise<void> {
  // Number 0 is the top level; a number that no department has yet is an id that never existed.
  const idOf = (number: number) => (number === 0 ? 0 : (model.ids()[number - 1] ?? 900_000_000 + number));
  if (each.kind === 'create') {
    const expected = model.judgeCreate(idOf(each.under));
    const answer = await api.post(PATH, { parentId: idOf(each.under), status: each.status });
    expect(reasonOf(answer)).toBe(expected);
    if (!expected)
      model.create(Number(answer.headers.location?.split('/').at(-1)), idOf(each.under), each.status);
  } else if (each.kind === 'move') {
    const [deptId, parentId] = [idOf(each.dept), idOf(each.under)];
    const expected = model.judgeMove(deptId, parentId);
    expect(reasonOf(await api.put(PATH, { deptId, parentId, status: each.status }))).toBe(expected);
    if (!expected) model.move(deptId, parentId, each.status);
  } else if (each.kind === 'delete tree') {
    const deptId = idOf(each.dept);
    const expected = model.judgeDeleteTree(deptId);
    expect(reasonOf(await api.delete(`${PATH}/${deptId}?subtree=true`))).toBe(expected);
    if (!expected) model.deleteTree(deptId);
  } else if (each.kind === 'restore') {
    const deptId = idOf(each.dept);
    const expected = model.judgeRestore(deptId);
    expect(reasonOf(await api.post(`${PATH}/${deptId}/restore`, {}))).toBe(expected);
    if (!expected) model.restore(deptId);
  } else {
    const ids = each.depts.map(idOf);
    const expected = model.judgeDelete(ids);
    expect(reasonOf(await api.delete(`${PATH}/${ids.join(',')}`))).toBe(expected);
    if (!expected) model.delete(ids);
  }
}

function reasonOf({
  status: code,
  refusal,
}: {
  status: number;
  refusal: { reason: string } | null;
}): string | null {
  return code === 200 ? null : (refusal?.reason ?? 'none');
}
