import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoad, rawRequest } from '../../test/support/load';
import { figureResult, type Measure } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { fillTenants } from '../support/world';

const PATH = '/system/dept-api';
/** By then the engine has touched all memory that it keeps for new objects. */
const FEW = 30_000;
const MANY = 100_000;
const REST_MS = 1500;

/** Memory of the service at rest, after many requests against after few. */
export const memory: Measure = {
  name: 'memory',
  async run(bed) {
    const callers = await fillTenants(await bed.dataSource(), { tenants: 8, depts: 1000 });
    const service = await bed.service({ gc: true });
    const request = (connection: number, n: number): string => {
      const { firstDept = 0, token = '' } = callers[connection % callers.length] ?? {};
      const id = firstDept + (n % 1000);
      // Of a hundred requests ninety read one, eight list, two write.
      const kind = n % 50;
      if (kind === 0) return rawRequest('POST', PATH, token, { deptName: `new ${n}`, parentId: firstDept });
      return rawRequest('GET', kind <= 4 ? `${PATH}?limit=20&parentId=${id}` : `${PATH}/${id}`, token);
    };
    const send = (requests: number) => closedLoad({ port: service.port, connections: 32, requests, request });
    await send(FEW);
    const before = await memoryAtRest(service);
    await send(MANY - FEW);
    const after = await memoryAtRest(service);
    const heading = {
      work: 'Memory at rest, after 100,000 requests',
      baseline: `after ${FEW.toLocaleString('en')}`,
      bound: 15,
    };
    const details = `${after.toFixed(1)} MB against ${before.toFixed(1)} MB; 90 % reads, 8 % lists, 2 % writes`;
    return [figureResult(heading, after - before, 'MB more', details)];
  },
};

/** After garbage has been collected and the pages given back. */
async function memoryAtRest(service: ServerProcess): Promise<number> {
  await sleep(REST_MS);
  service.signal('SIGUSR2');
  await sleep(REST_MS);
  return service.memoryMb('VmRSS');
}
