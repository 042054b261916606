import { show, spreadOf } from '../support/figures';
import type { Measure } from '../support/result';

/** From the start of the process to the first 200 of its readiness probe, on a database that is there. */
export const start: Measure = {
  name: 'start',
  async run(bed) {
    await bed.dataSource();
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const service = await bed.service();
      times.push(service.readyMs);
      await service.stop();
    }
    const figure = show(spreadOf(times), 'ms');
    return [{ work: 'Start to ready', baseline: '', figure, bound: '', ok: null, details: '' }];
  },
};
