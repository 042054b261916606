import { quantile, show, spreadOf } from '../support/figures';
import { figureResult, type Measure } from '../support/result';

/** From the start of the process to the first 200 of its readiness probe, on a database that is there. */
export const start: Measure = {
  name: 'start',
  async run(bed) {
    await bed.dataSource();
    // The first start may compile what later ones find in a cache.
    await (await bed.service()).stop();
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const service = await bed.service();
      times.push(service.readyMs);
      await service.stop();
    }
    const heading = { work: 'Start to ready', baseline: '', bound: 800 };
    return [figureResult(heading, quantile(times, 0.5), 'ms', show(spreadOf(times), 'ms'))];
  },
};
