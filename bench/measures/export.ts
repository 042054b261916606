import { closedLoad, rawRequest } from '../../test/support/load';
import { interleave } from '../support/figures';
import { figureResult, ratioResult, type Measure } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { fillTenants } from '../support/world';

const DEPTS = 500_000;
const ROUNDS = 3;

/** All departments of a very large tenant as a file. */
export const exportAll: Measure = {
  name: 'export',
  async run(bed) {
    const [caller] = await fillTenants(await bed.dataSource(), { tenants: 1, depts: DEPTS });
    const [service, smallest] = [await bed.service(), await bed.baseline('smallest-nest')];
    const ask = async (server: ServerProcess, path: string, requests = 1): Promise<number> => {
      const request = rawRequest('GET', `/system/dept-api${path}`, caller?.token ?? '');
      const start = performance.now();
      await closedLoad({ port: server.port, connections: 1, requests, request: () => request });
      return (performance.now() - start) / 1000;
    };
    // What any work makes a process grow by is not the export's.
    await ask(service, '?limit=500', 200);
    const before = service.memoryMb('VmRSS');
    service.forgetPeak();
    await ask(service, '/export');
    const grown = service.memoryMb('VmHWM') - before;
    await ask(smallest, '/export');
    const sides = [service, smallest].map((server) => () => ask(server, '/export'));
    const [own = [], theirs = []] = await interleave(sides, ROUNDS);
    const work = 'Export of 500,000 (NDJSON)';
    return [
      figureResult(
        { work: `${work}: growth of memory`, baseline: 'after 200 pages of 500', bound: 60 },
        grown,
        'MB',
      ),
      ratioResult(
        { work: `${work}: time`, baseline: 'the smallest Nest application, one SELECT', bound: 1.5 },
        own,
        theirs,
        's',
      ),
    ];
  },
};
