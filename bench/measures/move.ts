import { dialectOf } from '../../src/database/dialects';
import { runPrepared } from '../../src/database/sql-statement';
import { ApiClient } from '../../src/testing/api-client';
import { interleave, type Side } from '../support/figures';
import { vacuum } from '../support/sql';
import { ratioResult, type Measure, type Result } from '../support/result';
import { statementsOf, withoutStateLookups } from '../support/statements';
import { addSubtree, fillTenants, type Subtree } from '../support/world';

const BOUND = 1.3;
const SIZES = [
  { size: 100, rounds: 9, bound: null },
  { size: 10_000, rounds: 7, bound: BOUND },
  { size: 100_000, rounds: 3, bound: BOUND },
];
/** TRIM tells PostgreSQL that the value is a text. */
const rewriting = (place: (number: number) => string) => `UPDATE tenantry_dept
   SET ancestors = CONCAT(TRIM(${place(1)}), SUBSTR(ancestors, ${place(2)})), depth = depth + 0, revision = revision + 1
 WHERE tenant_id = ${place(3)} AND del_flag = '0' AND ancestors >= ${place(4)} AND ancestors < ${place(5)}`;

/** Moves a subtree between two departments at the top by turns; gives milliseconds. */
export function serviceMove(api: ApiClient, { head, tops }: Subtree): Side {
  let moves = 0;
  return async () => {
    moves += 1;
    const start = performance.now();
    const { status, text } = await api.put('/system/dept-api', {
      deptId: head,
      deptName: 'head',
      parentId: tops[moves % 2],
    });
    if (status !== 200) throw new Error(`The move failed: ${text}`);
    return performance.now() - start;
  };
}

/** Moving a subtree: the service against the one UPDATE, on an equal subtree of another tenant. */
export const move: Measure = {
  name: 'move',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const [own, other] = await fillTenants(dataSource, { tenants: 2, depts: 100 });
    if (!own || !other) throw new Error('There is no caller.');
    const api = new ApiClient((await bed.service()).baseUrl).as(own.token);
    const runner = dataSource.createQueryRunner();
    const rewrite = rewriting((number) => dialectOf(dataSource).place(number));
    const results: Result[] = [];
    const counts: number[] = [];
    for (const { size, rounds, bound } of SIZES) {
      const work = serviceMove(api, await addSubtree(dataSource, own, size));
      const { head, tops } = await addSubtree(dataSource, other, size);
      let moves = 0;
      // The one statement that a move cannot do without. It commits by itself.
      const baseline: Side = async () => {
        const [from, to] = moves % 2 === 0 ? tops : ([tops[1], tops[0]] as const);
        moves += 1;
        const path = `0,${from},${head}`;
        const values = [`0,${to},${head}`, path.length + 1, other.tenantId, path, `${path}-`];
        const start = performance.now();
        const { affected } = await runPrepared(runner.manager, rewrite, values);
        if (affected !== size - 1) throw new Error(`${affected} rows were rewritten, not ${size - 1}.`);
        return performance.now() - start;
      };
      await interleave([work, baseline], 1);
      const sides = [work, baseline].map((side): Side => async () => {
        await vacuum(dataSource);
        return side();
      });
      const [mine = [], theirs = []] = await interleave(sides, rounds);
      counts.push(withoutStateLookups(await statementsOf(dataSource, work)).length);
      const heading = {
        work: `Move of ${size.toLocaleString('en')} departments`,
        baseline: 'the one raw UPDATE',
        bound,
      };
      if (bound !== null) results.push(ratioResult(heading, mine, theirs, 'ms'));
    }
    await runner.release();
    api.close();
    const isSame = new Set(counts).size === 1;
    const work = 'Statements of a move, by size';
    results.push({
      work,
      baseline: '',
      figure: counts.join(', '),
      bound: 'all the same',
      ok: isSame,
      details: '',
    });
    return results;
  },
};
