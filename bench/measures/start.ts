import type { Kind } from '../support/bed';
import { interleave, type Side } from '../support/compare';
import { show, spreadOf } from '../support/figures';
import { figureResult, type Measure } from '../support/result';
import type { ServerProcess } from '../support/server-process';

const ROUNDS = 7;
const BOUND = 400;
const NAMES: Record<Kind, string> = { mariadb: 'MariaDB', sqlite: 'SQLite' };

/** From the start of the process to the first 200 of its readiness probe, on a database that is there. */
export const start: Measure = {
  name: 'start',
  async run(bed) {
    const kinds = ['mariadb', 'sqlite'] as const;
    const timed =
      (make: () => Promise<ServerProcess>): Side =>
      async () => {
        const server = await make();
        await server.stop();
        return server.readyMs;
      };
    const sides = [
      timed(() => bed.baseline('bare-nest')),
      ...kinds.map((kind) => timed(() => bed.service(kind))),
    ];
    // The first start migrates; and files are in the kernel's cache afterwards.
    await interleave(sides, 1);
    const [bare = [], ...own] = await interleave(sides, ROUNDS);
    return kinds.map((kind, at) => {
      const more = spreadOf((own[at] ?? []).map((ms, round) => ms - (bare[round] ?? NaN)));
      const heading = {
        work: `Start to ready, ${NAMES[kind]}`,
        baseline: 'bare Nest application',
        bound: BOUND,
      };
      const told = `${show(spreadOf(own[at] ?? []), 'ms')} against ${show(spreadOf(bare), 'ms')}`;
      return figureResult(heading, Math.round(more.median), 'ms more', told);
    });
  },
};
