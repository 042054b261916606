import { createConnection } from 'mysql2/promise';
import { compare } from '../support/compare';
import { fillQuickly } from '../support/quick-fill';
import { rawMover, serviceMover } from '../support/mover';
import { ratioResult, type Measure, type Result } from '../support/result';
import { ownStatementsOf } from '../support/statements';
import { fillWithSubtrees } from '../support/subtrees';

const BOUND = 1.3;
/** How often each size is moved, and whether it is bounded: below, a request costs more than the rows. */
const SIZES = [
  { size: 10, rounds: 30, isBounded: false },
  { size: 1000, rounds: 15, isBounded: false },
  { size: 10_000, rounds: 9, isBounded: true },
  { size: 100_000, rounds: 4, isBounded: true },
] as const;

/** Moving a subtree: the service against the one UPDATE, on an equal subtree of another tenant. */
export const move: Measure = {
  name: 'move',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const sizes = SIZES.map(({ size }) => size);
    const [own, theirs] = await fillQuickly(dataSource, async () => [
      await fillWithSubtrees(dataSource, sizes),
      await fillWithSubtrees(dataSource, sizes),
    ]);
    const api = bed.client(await bed.service(), own.tenantId);
    const connection = await createConnection((await bed.database('mariadb')).url);
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    const results: Result[] = [];
    const counts = new Map<number, number>();
    for (const { size, rounds, isBounded } of SIZES) {
      const work = serviceMover(api, own, size);
      const baseline = rawMover(connection, theirs, size);
      await work();
      await baseline();
      const found = await compare(isBounded ? BOUND : Infinity, rounds, work, baseline);
      counts.set(size, (await ownStatementsOf(dataSource, work)).length);
      const heading = {
        work: `Move of ${size.toLocaleString('en')} departments`,
        baseline: 'the one raw UPDATE',
      };
      results.push(
        ratioResult(
          { ...heading, bound: isBounded ? BOUND : null, ...(isBounded && { aim: 1.05 }) },
          found,
          'ms',
        ),
      );
    }
    await connection.end();
    api.close();
    const numbers = [...counts.values()];
    return [
      ...results,
      {
        work: 'Statements of a move, by size',
        baseline: '',
        figure: numbers.join(', '),
        bound: 'all the same',
        aim: '',
        ok: new Set(numbers).size === 1,
        details: '',
      },
    ];
  },
};
