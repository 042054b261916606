import { round, show, spreadOf } from '../support/figures';
import { figureResult, type Measure } from '../support/result';

const LATER_STARTS = 5;
const BOUND_MS = 800;

/** From the start of the process to the first 200 of its readiness probe, on a database that is there. */
export const start: Measure = {
  name: 'start',
  async run(bed) {
    await bed.dataSource();
    const readyMs = async (): Promise<number> => {
      const service = await bed.service();
      await service.stop();
      return service.readyMs;
    };
    // It leaves what it has compiled to the others.
    const first = await readyMs();
    const later: number[] = [];
    for (let n = 0; n < LATER_STARTS; n += 1) later.push(await readyMs());
    const heading = { work: 'Start to ready, after the first start', baseline: '', bound: BOUND_MS };
    const spread = spreadOf(later);
    return [figureResult(heading, spread.median, 'ms', `${show(spread, 'ms')}; before: ${round(first)} ms`)];
  },
};
